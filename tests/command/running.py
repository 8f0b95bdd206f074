"""Running a command inside the tests."""

from sknomad import cli


def run(capsys, *arguments):
    """Exit code, stdout and stderr of one command."""
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err
