"""`perhop completion`."""

from __future__ import annotations

from typing import Literal

from perhop.command.parser import app
from perhop.errors import Exit

# Appended to the generated scripts. These complete commands and options; `perhop complete` adds kinds of
# plots, studies, templates and the paths of a scenario.
_VALUES = {
    "bash": """
_perhop_values() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" IFS=$'\\n'
  case "${COMP_WORDS[1]} $prev" in
    *" --set" | *" --against" | *" --vary" | *" --plot" | *" --template" | "plot "* | "study "*)
      COMPREPLY=($(perhop complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$cur" 2> /dev/null))
      [[ "${COMPREPLY[0]}" == *= ]] && compopt -o nospace
      [[ ${#COMPREPLY[@]} -gt 0 ]] && return
      ;;
  esac
  unset IFS
  _perhop
}
complete -F _perhop_values perhop
""",
    "zsh": """
_perhop_values() {
  local -a found
  case "$words[2] $words[CURRENT-1]" in
    *" --set" | *" --against" | *" --vary" | *" --plot" | *" --template" | "plot "* | "study "*)
      found=("${(@f)$(perhop complete -- "${(@)words[2,CURRENT]}" 2> /dev/null)}")
      if [[ -n "$found[1]" ]]; then
        [[ "$found[1]" == *= ]] && compadd -S '' -a found || compadd -a found
        return
      fi
      ;;
  esac
  _cyclopts_perhop "$@"
}
compdef _perhop_values perhop
""",
    "fish": """
for option in set against vary plot template
  complete -c perhop -l $option -x \\
    -a '(perhop complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'
end
complete -c perhop -f -n 'contains -- (commandline -opc)[2] plot study' \\
  -a '(perhop complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'
""",
}


def completion(shell: Literal["bash", "zsh", "fish"], /) -> Exit:
    """Print the completion script for a shell.

    Parameters
    ----------
    shell
        The shell.

    """
    print(app.generate_completion(prog_name="perhop", shell=shell) + _VALUES[shell])
    return Exit.OK
