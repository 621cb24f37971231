// Shared code of the commands that change one volume: find it by name or id, plan or change it, print, wait.

import type { Client, Result } from '@holdfast/client'
import type { Volume } from '@holdfast/contract'
import type { ArgumentSpec, Invocation, OptionSpec } from './command.ts'
import { waitMs } from './commands/apply.ts'
import { printPlanned } from './dry-run.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { printFailure } from './print/failure.ts'
import { printItems } from './print/output.ts'
import { print } from './terminal/terminal.ts'

export const VOLUME_ARGUMENT: ArgumentSpec = {
  name: 'volume',
  summary: 'name or id of the volume',
  completes: 'volumes',
}

/** The output of a command that changes a volume: by default one line. */
export const VOLUME_OUTPUT: OptionSpec = {
  flags: '-o, --output <form>',
  summary: 'print the volume after the change',
  choices: ['wide', 'json', 'yaml', 'name'],
}

export const volumeName = (typed = ''): string => typed.replace(/^(?:volumes?|vol)\//, '')

export interface VolumeChange {
  /** Completes the sentence "volume/data ...", in the past tense. */
  outcome(before: Volume, after: Volume): string
  /** Completes the sentence "volume/data would be ...". */
  readonly planned: string
  change(volume: Volume): Promise<Result<Volume>>
  plan(volume: Volume): ReturnType<Client['volumes']['dryRuns']['remove']>
}

export async function changeVolume(
  invocation: Invocation,
  client: Client,
  { outcome, planned, change, plan }: VolumeChange,
): Promise<ExitCode> {
  const { terminal, args, flag } = invocation
  const { findVolume } = await import('./resources/find-volume.ts')
  const found = await findVolume(client, volumeName(args[0]))
  if (!found.ok) return printFailure(terminal, found.failure)
  if (flag('dry-run'))
    return printPlanned(terminal, `volume/${found.value.name}`, planned, await plan(found.value))
  const changed = await change(found.value)
  if (!changed.ok) return printFailure(terminal, changed.failure)
  return followVolume(invocation, client, changed.value, outcome(found.value, changed.value))
}

/** Prints a changed volume and, with --wait, waits until it is Ready. */
export async function followVolume(
  invocation: Invocation,
  client: Client,
  volume: Volume,
  outcome: string,
): Promise<ExitCode> {
  const { terminal, flag, text } = invocation
  const form = text('output')
  const isLine = form === undefined || form === 'name'
  if (form === undefined) print(terminal, `volume/${volume.name} ${outcome}`)
  if (form === 'name') print(terminal, `volume/${volume.name}`)
  let shown = volume
  if (flag('wait')) {
    const { waitForVolumes } = await import('./follow/wait-for-volumes.ts')
    const options = { longestMs: waitMs(invocation), announce: form === undefined }
    const exitCode = await waitForVolumes(terminal, client, [volume], options)
    if (exitCode !== EXIT.ok) return exitCode
    const read = isLine ? undefined : await client.volumes.read(volume.id)
    if (read?.ok === true) shown = read.value
  }
  if (isLine) return EXIT.ok
  const { volumes } = await import('./resources/volumes.ts')
  await printItems(terminal, form, volumes, [shown], true)
  return EXIT.ok
}
