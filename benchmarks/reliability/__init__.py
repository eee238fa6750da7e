"""Nothing told is lost: processes are killed at random moments, and what they were promised is looked for.

`python -m benchmarks.reliability --kills 500 --seed 0`. A case is drawn from the seed and its number: a database, the
library's level, how many workers, how they are started, what becomes of the process that started them, and who is
killed when. Each worker writes down what has been acknowledged to it, after the call has returned, in a file of its
own. When the dead are counted, a new process opens the study and looks for every line of those files.

- `cases`: what may happen, drawn from a seed
- `clients`: one ask and tell on each level, with what it acknowledges
- `processes`: the workers, and the process that starts them
- `killer`: one wave of workers, killed as the case says
- `judge`: what a new process finds, beside what was acknowledged
- `server`: a PostgreSQL of one's own, which can be killed too
- `results`: the figures in a file, and in docs/reliability.md
"""
