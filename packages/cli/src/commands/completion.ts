// What to put into a shell's start-up file.

import type { OfflineCommand } from '../command.ts'
import { COMPLETION_SCRIPTS, SHELLS } from '../completion/scripts.ts'
import { EXIT } from '../exit-codes.ts'

export const completion: OfflineCommand = {
  name: 'completion',
  summary: 'print the completion of a shell, with live names of deployments, nodes and registries',
  args: [{ name: 'shell', summary: 'which one', choices: SHELLS }],
  examples: [
    ['source <(holdfast completion bash)', 'In this shell, or in ~/.bashrc.'],
    ['holdfast completion zsh > ~/.zfunc/_holdfast', 'For zsh, where ~/.zfunc is in its fpath.'],
    ['holdfast completion fish > ~/.config/fish/completions/holdfast.fish', 'For fish.'],
  ],
  online: false,
  async run({ terminal, args: [typed] }) {
    const shell = SHELLS.find((each) => each === typed)
    if (shell === undefined) return EXIT.usage
    terminal.out(COMPLETION_SCRIPTS[shell])
    return EXIT.ok
  },
}
