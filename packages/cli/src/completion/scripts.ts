// Completion scripts for shells. A script calls `holdfast __complete` with the words up to the cursor; the last of these
// words is incomplete.

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/**
 * The bash script. Bash splits words at colons, which addresses and context names contain. The script joins these parts
 * again, and returns only the part of a candidate after the last colon, because bash replaces only that part.
 */
const BASH = `_holdfast() {
  local IFS=$'\\n' word cut= words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ -n $cut || $word == :* ]]; then words[\${#words[@]}-1]+=$word; else words+=("$word"); fi
    if [[ $word == *: ]]; then cut=yes; else cut=; fi
  done
  COMPREPLY=($(holdfast __complete -- "\${words[@]}" 2>/dev/null))
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then compopt -o default; return; fi
  word="\${words[\${#words[@]}-1]}"
  [[ $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("\${COMPREPLY[@]#"\${word%"\${word##*:}"}"}")
}
complete -F _holdfast holdfast
`

const ZSH = `#compdef holdfast
_holdfast() {
  local -a found
  found=("\${(@f)$(holdfast __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = "_holdfast" ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`

/** The fish script. Like the scripts of the other shells, it offers files if there are no other candidates. */
const FISH = `function __holdfast_find
  set -l words (commandline -opc) (commandline -ct)
  set -g __holdfast_found (holdfast __complete -- $words[2..-1] 2>/dev/null)
  test (count $__holdfast_found) -gt 0
end
complete -c holdfast -n __holdfast_find -f -a '$__holdfast_found'
`

export const COMPLETION_SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH }
