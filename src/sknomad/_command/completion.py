"""``sknomad completion``: a script that completes commands and options in bash, zsh or fish."""

from __future__ import annotations

import argparse

from .command import DONE, show
from .parser import COMMANDS, make_parser

BASH = """_sknomad() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
  fi
  if [[ "$word" == -* || "$COMP_CWORD" -eq 1 ]]; then
    COMPREPLY=( $(compgen -W "$words" -- "$word") )
  else
    COMPREPLY=( $(compgen -f -- "$word") )
  fi
}}
complete -o filenames -F _sknomad sknomad"""


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    show({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]())
    return DONE


def _bash() -> str:
    cases = "\n".join(f'      {name}) words="{" ".join(words)}" ;;' for name, words in _words().items())
    return BASH.format(commands=" ".join(_words()), cases=cases)


def _zsh() -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = ["complete -c sknomad -f -n __fish_use_subcommand -a '--help --version'"]
    for command in COMMANDS:
        lines.append(f"complete -c sknomad -f -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}")
        for word in _words()[command.name]:
            flag = f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}"
            lines.append(f"complete -c sknomad -n '__fish_seen_subcommand_from {command.name}' {flag}")
    return "\n".join(lines)


def _words() -> dict[str, list[str]]:
    """The options of every command."""
    chosen = next(action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return {
        name: [word for action in parser._actions for word in action.option_strings]
        for name, parser in chosen.choices.items()
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "\\'") + "'"
