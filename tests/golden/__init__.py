"""Golden files: what leaves the program or stays on disk, byte for byte, so that no reshaping moves it.

`inputs/` is what goes in. Nobody writes it anew: they are as the program of their day wrote them.

    study.sql.gz          a run store of schema 13 with nine runs, made with the demo model, then made less
                          confident; their numbers are rounded, and so the same on every computer.
                          1: label tokens, explanations, annotations by three people; 3: another judge, in one
                          order; 4: a sample, with examples, the second order where uncertain; 5: another
                          rubric; 6: the perturbations of an audit; 7: until significant, archived; 8: four
                          methods; 9: chain of thought; 10: a submission. Run 2 was deleted.
    store-NN.sql.gz       a store of each earlier schema, judged by the program of that time (annotations
                          were added as SQL); 02, 05 and 12 with a calibration of that time
    words.jsonl.gz        a write-ahead log with every kind of annotation
    calibration-1.json    a calibration of format 1
    recipe.json.gz        a recipe
    the others            datasets, a submission, a rubric, outputs of candidates, scores

`files/` is what comes out. Long ones are `.gz`; `zcat` shows them.

    help/COMMAND.txt      --help of each command and each of its actions, in lines as long as they need
    steps/STEP.txt        what the command lines of a step of `steps.py` print: stdout, stderr, exit code
    steps/STEP.NAME       a file that this step has written; of an HTML page its text
    stores/NN.*           what the program reads from store-NN
    frames/NAME.txt       what notebooks are given: columns, their types and meanings, first rows
    schema.sql            the tables of the present schema
    log-taken-in.sql      the rows that the store makes of the write-ahead log
    perturbations.tsv     the items and perturbations of a new audit
    identities.json       of new runs: keys, digests, settings, manifests, hashes of items

Paths, the version, and times after 2025 are names in braces. Numbers with more than six digits after the
point are cut to five digits and … ; there a difference of two ten-thousandths counts as none, for the last
digits of what is fitted depend on the processor.

`python -m tests.golden.write` writes `files/` anew (`-k PART`: only these); no test run does. Look through
the diff then: each line is something that users or other programs notice. `program.py` alone names the
engine, `steps.py` alone has command lines: after a renaming, these two change.
"""
