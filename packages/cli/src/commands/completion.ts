// `holdfast completion`: prints the completion script of a shell.

import type { OfflineCommand } from '../command.ts'
import { COMPLETION_SCRIPTS, SHELLS } from '../completion/scripts.ts'
import { EXIT } from '../exit-codes.ts'

export const completion: OfflineCommand = {
  name: 'completion',
  summary:
    'print the completion script of a shell, which completes names of deployments, nodes and registries',
  args: [{ name: 'shell', summary: 'name of the shell', choices: SHELLS }],
  examples: [
    [
      'source <(holdfast completion bash)',
      'Enables completion in this shell; add it to ~/.bashrc to keep it.',
    ],
    ['holdfast completion zsh > ~/.zfunc/_holdfast', 'For zsh, if ~/.zfunc is in fpath.'],
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
