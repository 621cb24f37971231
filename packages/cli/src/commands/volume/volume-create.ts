// `holdfast volume create`: creates a volume.

import type { Client, SentVolume } from '@holdfast/client'
import { defined } from '@holdfast/contract'
import { numberOf, WHOLE_NUMBER } from '../../args/forms.ts'
import { typedSize } from '../../args/size.ts'
import { VOLUME_CLASS_WORDS } from '../../args/vocabulary.ts'
import type { Invocation, OnlineCommand } from '../../command.ts'
import { DRY_RUN_OPTION } from '../../dry-run.ts'
import { EXIT, type ExitCode } from '../../exit-codes.ts'
import { printAnnounced } from '../../print/changes.ts'
import { printError, printFailure } from '../../print/failure.ts'
import { followVolume, VOLUME_OUTPUT } from '../../volume-command.ts'
import { waitOptions } from '../apply.ts'

export const volumeCreate: OnlineCommand = {
  name: 'volume create',
  summary: 'create a volume, which keeps data when containers are replaced',
  details:
    'A volume without a fitting node is stored with the phase Pending and created as soon as one fits. holdfast apply creates volumes from manifests.',
  args: [{ name: 'name', summary: 'name of the volume, unique in the tenant' }],
  options: [
    { flags: '--size <size>', summary: 'size with a unit, for example 10Gi; required' },
    {
      flags: '--class <class>',
      summary: 'how the data is kept (default: replicated)',
      choices: VOLUME_CLASS_WORDS,
    },
    {
      flags: '--replicas <number>',
      summary: 'number of copies besides the primary, each on a node of its own (default: 0)',
      form: WHOLE_NUMBER,
    },
    { flags: '--node <node>', summary: 'name or id of the node that becomes the primary' },
    { flags: '--country <code>', summary: 'country in which all copies must be, for example DE' },
    { flags: '--region <name>', summary: 'region in which all copies must be, for example eu' },
    { flags: '--not-in <code>', summary: 'country in which no copy may be; repeatable', many: true },
    DRY_RUN_OPTION,
    ...waitOptions('the volume is Ready'),
    VOLUME_OUTPUT,
  ],
  examples: [
    [
      'holdfast volume create data --size 10Gi --replicas 1 --wait',
      'Creates a volume with a copy on a second node.',
    ],
    ['holdfast volume create cache --size 512Mi --class ephemeral', 'Creates a volume on one node only.'],
    ['holdfast volume create data --size 10Gi --dry-run', 'Shows on which nodes the volume would be.'],
  ],
  online: true,
  async run(invocation, client) {
    const { terminal, flag } = invocation
    const body = await bodyOf(invocation, client)
    if (typeof body === 'number') return body
    if (flag('dry-run')) {
      const { printPlannedVolume } = await import('../../volumes/print-volume.ts')
      const planned = await client.volumes.dryRuns.create(body)
      if (!planned.ok) return printFailure(terminal, planned.failure)
      const { alterations, warnings, plan } = planned.value
      const { result, effects } = plan
      printPlannedVolume(terminal, 'would be created', {
        alterations,
        warnings,
        result: result.volume,
        effects,
      })
      return EXIT.ok
    }
    const created = await client.volumes.create(body)
    if (!created.ok) return printFailure(terminal, created.failure)
    printAnnounced(terminal, created.value, { verbose: flag('verbose') })
    return followVolume(invocation, client, created.value.volume, 'created')
  },
}

/** The request for a volume, or an exit code after the problem was printed. */
async function bodyOf(invocation: Invocation, client: Client): Promise<SentVolume | ExitCode> {
  const { terminal, args, text } = invocation
  const typed = text('size')
  if (typed === undefined) {
    printError(terminal, `no size given, for example: holdfast volume create ${args[0]} --size 10Gi`)
    return EXIT.usage
  }
  const size = await typedSize(terminal, typed)
  if ('exitCode' in size) return size.exitCode
  const node = await nodeIdOf(invocation, client)
  if (typeof node === 'number') return node
  return defined({
    name: args[0] ?? '',
    class: text('class') ?? 'replicated',
    sizeBytes: size.bytes,
    replicas: numberOf(text('replicas')),
    nodeId: node,
    residency: residencyOf(invocation),
  })
}

async function nodeIdOf(
  { terminal, text }: Invocation,
  client: Client,
): Promise<string | undefined | ExitCode> {
  const typed = text('node')
  if (typed === undefined) return undefined
  const { findNode } = await import('../../resources/find-node.ts')
  const found = await findNode(client, typed.replace(/^node\//, ''))
  return found.ok ? found.value.id : printFailure(terminal, found.failure)
}

function residencyOf({ text, texts }: Invocation): SentVolume | undefined {
  const blocked = texts('not-in')
  const residency = defined({
    country: text('country'),
    region: text('region'),
    blockedCountries: blocked.length === 0 ? undefined : [...blocked],
  })
  return Object.keys(residency).length === 0 ? undefined : residency
}
