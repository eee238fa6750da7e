"""What is done with the values before anything is modelled: on which scale they are, and which are left out."""
