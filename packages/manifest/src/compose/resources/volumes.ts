// Plans the volumes of an import, and the mounts of all services. A volume has one writer: later services mount it
// read-only.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { quantityText } from '../../quantities.ts'
import { type Draft, type RequestedMount, replicasOf } from '../draft.ts'
import { mapOf, visitMembers } from '../members.ts'
import { createNamePool, type NamePool } from '../names.ts'
import type { Report } from '../report.ts'
import { booleanOf } from '../source/scalars.ts'
import { memberOf, textOf, type Written, type WrittenMap } from '../source/written.ts'

export interface VolumeOptions {
  /** The size of every volume, such as 10Gi. Compose has no sizes. */
  readonly size: string
  /** The id of the node that holds the volumes. */
  readonly nodeId?: string | undefined
}

const TMPFS_BYTES = 64 * 1024 ** 2
/** The least size of a volume. */
const LEAST_BYTES = 16 * 1024 ** 2

interface Planner {
  readonly report: Report
  readonly options: VolumeOptions
  readonly defined: WrittenMap | undefined
  readonly names: NamePool
  readonly documents: JsonObject[]
  /** Names of the volumes of the Compose file, by their keys. */
  readonly known: Map<string, string>
  /** The deployment that writes each volume. */
  readonly writers: Map<string, string>
}

export function planVolumes(
  report: Report,
  drafts: readonly Draft[],
  defined: Written | undefined,
  options: VolumeOptions,
): JsonObject[] {
  const map = defined === undefined ? undefined : mapOf(report, defined)
  const names = createNamePool('volume')
  const planner: Planner = {
    report,
    options,
    defined: map,
    names,
    documents: [],
    known: new Map(),
    writers: new Map(),
  }
  for (const draft of drafts) {
    const mounts = draft.mounts.flatMap((mount) => planMount(planner, draft, mount) ?? [])
    if (mounts.length > 0) draft.fields.volumes = mounts
  }
  for (const [key, node] of map?.members ?? [])
    if (!planner.known.has(key)) report.ignored(node, 'No imported service mounts the volume.')
  return planner.documents
}

function planMount(planner: Planner, draft: Draft, mount: RequestedMount): JsonObject | undefined {
  return mount.kind === 'volume' ? planNamed(planner, draft, mount) : planScratch(planner, draft, mount)
}

const REPLICAS_SHARE = 'Replicas would share the volume, and a volume has one writer.'

/** An anonymous volume or a tmpfs: space without a name, as a volume of the class ephemeral. */
function planScratch(planner: Planner, draft: Draft, mount: RequestedMount): JsonObject | undefined {
  const { report, names, documents, options } = planner
  const { node, target, kind } = mount
  if (replicasOf(draft) > 1) {
    report.refused(node, REPLICAS_SHARE, 'Let the program write to the file system of its container.')
    return undefined
  }
  const name = names.claim(`${draft.name}${target.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`)
  const bytes = Math.max(mount.sizeBytes ?? TMPFS_BYTES, LEAST_BYTES)
  const isTmpfs = kind === 'tmpfs'
  const size = isTmpfs ? sizeFields(bytes) : { size: options.size }
  documents.push(volumeDocument(name, 'ephemeral', size, options))
  const what = `the volume ${name} of the class ephemeral has ${String(size.size ?? `${bytes} bytes`)}`
  report.changed(
    node,
    what,
    'Every mount has a volume with a name and a size of at least 16Mi.',
    'Change the size if it does not fit.',
  )
  return { volume: name, target, type: isTmpfs ? 'tmpfs' : 'volume', ...readOnly(mount.readOnly) }
}

const sizeFields = (bytes: number): JsonObject => {
  const size = quantityText('sizeBytes', bytes)
  return size === undefined ? { sizeBytes: bytes } : { size }
}

const readOnly = (isReadOnly: boolean): JsonObject => (isReadOnly ? { readOnly: true } : {})

function volumeDocument(
  name: string,
  storage: string,
  size: JsonObject,
  { nodeId }: VolumeOptions,
): JsonObject {
  const node: JsonObject = nodeId === undefined || storage === 'ephemeral' ? {} : { nodeId }
  return { kind: 'Volume', name, class: storage, ...size, replicas: 0, ...node }
}

function planNamed(planner: Planner, draft: Draft, mount: RequestedMount): JsonObject | undefined {
  const { report, defined } = planner
  const node = defined?.members.get(mount.source)
  if (node === undefined) {
    report.refused(mount.node, 'The file defines no such volume.')
    return undefined
  }
  const volume = planner.known.get(mount.source) ?? defineVolume(planner, mount.source, node)
  planner.known.set(mount.source, volume)
  const isReadOnly = mount.readOnly || !claimWriter(planner, draft, mount, volume)
  return { volume, target: mount.target, type: mount.copies ? 'volume' : 'bind', ...readOnly(isReadOnly) }
}

const ONE_WRITER = 'A volume has one deployment that writes it.'

/** Whether the deployment may write the volume: no other one does. A writer has one replica. */
function claimWriter(
  { report, writers }: Planner,
  draft: Draft,
  { node }: RequestedMount,
  volume: string,
): boolean {
  const writer = writers.get(volume) ?? draft.name
  writers.set(volume, writer)
  if (writer !== draft.name) {
    report.changed(
      node,
      'it is mounted read-only',
      `${ONE_WRITER} ${writer} writes ${volume}.`,
      'Use a volume of its own if it has to write.',
    )
    return false
  }
  if (replicasOf(draft) > 1) {
    report.changed(
      draft.replicasAt ?? node,
      'replicas is 1',
      REPLICAS_SHARE,
      'Mount the volume read-only if several replicas are needed.',
    )
    draft.fields.replicas = 1
  }
  return true
}

const EXTERNAL = 'The file refers to a volume that exists, and the platform does not have it.'
const DRIVER = ['A volume is in the storage pool of a node.', 'Copy the data into the volume.'] as const

function defineVolume({ report, names, documents, options }: Planner, key: string, node: Written): string {
  const external = memberOf(node, 'external')
  const wanted = textOf(memberOf(node, 'name')) ?? textOf(memberOf(external, 'name')) ?? key
  const name = names.claim(wanted)
  const map = mapOf(report, node)
  if (map !== undefined) visitVolume(report, map)
  if (name !== wanted)
    report.changed(node, `its name is ${name}`, 'Names have lowercase letters, digits and hyphens.')
  if (isJsonObject(jsonOf(external)) || booleanOf(textOf(external)) === true) {
    const next = `Create it: holdfast volume create ${name} --class replicated --size ${options.size}`
    report.changed(node, 'no document is written for the volume', EXTERNAL, next)
    return name
  }
  documents.push(volumeDocument(name, 'replicated', { size: options.size }, options))
  report.changed(
    node,
    `the volume has ${options.size}, no copy on another node, and no data`,
    'Compose has no sizes, and the data of the machine is not read.',
    'Change size and replicas, and copy the data into the volume.',
  )
  return name
}

const jsonOf = (node: Written | undefined): Json => (node?.kind === 'map' ? {} : null)

function visitVolume(report: Report, map: WrittenMap): void {
  visitMembers(map, {
    report,
    handlers: {
      name: () => {},
      external: () => {},
      driver(member) {
        if (textOf(member) !== 'local') report.refused(member, ...DRIVER)
      },
    },
    refusals: { driver_opts: DRIVER, labels: ['Volumes have no labels.'] },
  })
}
