"""What kind of object is this, and which similarities suit it?"""
