// Which command of the CLI a typed command line chooses; a line that the CLI does not accept throws.

import { GLOBAL_OPTIONS } from '@holdfast/cli/args/global-options'
import { protectVerbatim } from '@holdfast/cli/args/option-words'
import { COMMANDS, GROUPS } from '@holdfast/cli/commands/index'
import { buildProgram } from '@holdfast/cli/program'

export async function chosenCommand(typed: string): Promise<string> {
  let chosen = 'no command'
  const program = buildProgram({
    commands: COMMANDS,
    groups: GROUPS,
    out: () => {},
    err: () => {},
    async onChosen(command) {
      chosen = command.name
    },
  })
  const words = protectVerbatim(typed.split(' ').slice(1), COMMANDS, GLOBAL_OPTIONS)
  await program.parseAsync(words, { from: 'user' })
  return chosen
}
