// `holdfast volume promote`: has a copy replace a primary whose machine is lost, after the name was typed once more.

import type { Client } from '@holdfast/client'
import { defined, type SentPromotion, type Volume } from '@holdfast/contract'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { changeVolume, VOLUME_ARGUMENT, VOLUME_OUTPUT, volumeName } from '../../volume-command.ts'
import { waitOptions } from '../apply.ts'

export const volumePromote: OnlineCommand = {
  name: 'volume promote',
  summary: 'replace the primary of a volume, whose machine is lost, by a copy',
  details:
    'Writes that the copy lacks are lost; --dry-run prints how many seconds of them. All volumes that the same deployment writes are promoted\ntogether. The platform does the same without this command if a copy is promotable and not too far behind. To move a primary that is alive,\nuse holdfast node drain. Asks for the name of the volume; scripts use --yes.',
  args: [VOLUME_ARGUMENT],
  options: [
    { flags: '--node <node>', summary: 'the node whose copy becomes the primary' },
    { flags: '--force', summary: 'accept a copy that is further behind than the platform allows' },
    {
      flags: '--primary-is-dead',
      summary:
        'your word that the machine of the primary is off; needed for a copy that is not promotable; if it is wrong, two machines write',
    },
    { flags: '--yes', summary: 'do not ask' },
    DRY_RUN_OPTION,
    ...waitOptions('the volume is Ready'),
    VOLUME_OUTPUT,
  ],
  examples: [
    ['holdfast volume promote data --dry-run', 'Shows which writes would be lost.'],
    [
      'holdfast volume promote data --node n2 --force --wait',
      'Continues with the copy on n2, however old it is.',
    ],
  ],
  online: true,
  async run(invocation, client) {
    const sent = await sentPromotion(invocation, client)
    if (typeof sent === 'number') return sent
    const refused = await confirm(invocation)
    if (refused !== undefined) return refused
    return changeVolume(invocation, client, {
      outcome: (before, after) => `promoted from ${primaryOf(before)} to ${primaryOf(after)}`,
      planned: 'promoted',
      change: ({ id }) => client.volumes.promote(id, sent),
      plan: ({ id }) => client.volumes.dryRuns.promote(id, sent),
    })
  },
}

const primaryOf = ({ primary }: Volume): string => primary?.nodeName ?? 'no node'

/** Returns the exit code if the named node is not found. */
async function sentPromotion(
  { terminal, text, flag }: Invocation,
  client: Client,
): Promise<SentPromotion | ExitCode> {
  const flags = {
    force: flag('force') || undefined,
    primaryIsDead: flag('primary-is-dead') || undefined,
  }
  const typed = text('node')?.replace(/^node\//, '')
  if (typed === undefined) return defined(flags)
  const { findNode } = await import('../../resources/find-node.ts')
  const node = await findNode(client, typed)
  return node.ok ? defined({ ...flags, nodeId: node.value.id }) : printFailure(terminal, node.failure)
}

/** Returns the exit code if the volume must not be promoted. */
async function confirm({ terminal, args, flag }: Invocation): Promise<ExitCode | undefined> {
  if (flag('yes') || flag('dry-run')) return undefined
  const name = volumeName(args[0])
  const answer = await terminal.ask(
    `Writes of volume ${name} that its copy lacks are lost. Type its name to confirm: `,
  )
  if (answer?.trim() === name) return undefined
  printError(
    terminal,
    answer === undefined
      ? `stdin is not a terminal; use --yes to promote a copy of volume ${name}`
      : `volume ${name} was not promoted: the name does not match`,
  )
  return answer === undefined ? EXIT.usage : EXIT.error
}
