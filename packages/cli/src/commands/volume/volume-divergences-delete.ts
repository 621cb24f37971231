// `holdfast volume divergences delete`: deletes data that a former primary keeps, after the name of the volume was typed once
// more.

import { defined, type Volume } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION, printPlanned } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { print } from '../../terminal/terminal.ts'
import { VOLUME_ARGUMENT, volumeName } from '../../volume-command.ts'
import { EPOCH_ARGUMENT, epochOf, NODE_OPTION } from './volume-divergences.ts'

export const volumeDivergencesDelete: OnlineCommand = {
  name: 'volume divergences delete',
  summary: 'delete data that a former primary of a volume keeps',
  details:
    'This cannot be undone. The current data of the volume is not touched. Asks for the name of the volume; scripts use --yes.',
  args: [VOLUME_ARGUMENT, EPOCH_ARGUMENT],
  options: [NODE_OPTION, { flags: '--yes', summary: 'do not ask' }, DRY_RUN_OPTION],
  examples: [
    ['holdfast volume divergences delete data 1 --dry-run', 'Shows what would be lost.'],
    ['holdfast volume divergences delete data 1', 'Deletes the data of epoch 1 and waits for its node.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, args, text, flag } = invocation
    const epoch = epochOf(args[1])
    if (epoch === undefined) {
      printError(terminal, `${args[1] ?? ''} is not an epoch; holdfast volume divergences lists them`)
      return EXIT.usage
    }
    const { findVolume } = await import('../../resources/find-volume.ts')
    const found = await findVolume(client, volumeName(args[0]))
    if (!found.ok) return printFailure(terminal, found.failure)
    const { id, name } = found.value
    const options = defined({ node: text('node')?.replace(/^node\//, '') })
    const subject = `volume/${name}: epoch ${epoch}`
    if (flag('dry-run'))
      return printPlanned(
        terminal,
        subject,
        'deleted',
        await client.volumes.divergences.planRemove(id, epoch, options),
      )
    const refused = await confirm(invocation, found.value, epoch)
    if (refused !== undefined) return refused
    const deleted = await client.volumes.divergences.remove(id, epoch, options)
    if (!deleted.ok) return printFailure(terminal, deleted.failure)
    const { nodeName } = deleted.value
    print(terminal, `${subject} ${nodeName === undefined ? 'was deleted before' : `deleted on ${nodeName}`}`)
    return EXIT.ok
  },
}

/** Returns the exit code if the data must not be deleted. */
async function confirm(
  { terminal, flag }: Invocation,
  { name }: Volume,
  epoch: number,
): Promise<ExitCode | undefined> {
  if (flag('yes')) return undefined
  const answer = await terminal.ask(
    `Writes of epoch ${epoch} that only this data has are lost. Type the name of the volume to confirm: `,
  )
  if (answer?.trim() === name) return undefined
  printError(
    terminal,
    answer === undefined
      ? `stdin is not a terminal; use --yes to delete the data of epoch ${epoch}`
      : `the data of epoch ${epoch} was not deleted: the name does not match`,
  )
  return answer === undefined ? EXIT.usage : EXIT.error
}
