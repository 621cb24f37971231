// What a shell is told once: to ask `holdfast __complete` with the words so far, the last of them being written.

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

const BASH = `_holdfast() {
  local IFS=$'\\n'
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=($(holdfast __complete -- "\${words[@]}" 2>/dev/null))
  [ \${#COMPREPLY[@]} -eq 0 ] && compopt -o default
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

const FISH = `function __holdfast_complete
  set -l words (commandline -opc) (commandline -ct)
  holdfast __complete -- $words[2..-1] 2>/dev/null
end
complete -c holdfast -a '(__holdfast_complete)'
`

export const COMPLETION_SCRIPTS: { readonly [shell in Shell]: string } = { bash: BASH, zsh: ZSH, fish: FISH }
