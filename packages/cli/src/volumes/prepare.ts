// Prepares documents for the platform: finds the stored volumes, replaces names of volumes and nodes by ids, and decides
// which mounts the platform cannot judge yet. Documents without volumes need no request.

import type { Client, Failure } from '@holdfast/client'
import type { Json, Rejection, Volume } from '@holdfast/contract'
import { reject } from '@holdfast/core/admission'
import {
  checkVolumeDocument,
  kindOf,
  type Manifest,
  mountedVolumes,
  nodeFault,
  volumeBody,
  volumeReferences,
  withoutMounts,
  withVolumeIds,
} from '@holdfast/manifest'
import { nameOf } from '../manifest/load-manifests.ts'
import { nodesByName, withNodeId } from '../manifest/node-names.ts'
import { planVolume } from './plan-volume.ts'
import type { Prepared } from './prepared.ts'

/** The stored volumes by name. Applied volumes are added. */
export type KnownVolumes = Map<string, Volume>

export type PreparedAll =
  | { readonly ok: true; readonly documents: readonly Prepared[]; readonly volumes: KnownVolumes }
  | { readonly ok: false; readonly failure: Failure }

export async function prepareAll(client: Client, manifests: readonly Manifest[]): Promise<PreparedAll> {
  const prepared = await prepareVolumes(client, manifests)
  if (!prepared.ok) return prepared
  let { documents } = prepared
  if (manifests.some(({ value }) => kindOf(value) === 'Network')) {
    const { prepareNetworks } = await import('../networks/prepare-networks.ts')
    const networks = await prepareNetworks(client, documents)
    if (!networks.ok) return networks
    documents = networks.value
  }
  if (manifests.some(({ value }) => kindOf(value) === 'Job')) {
    const { prepareJobs } = await import('../jobs/prepare-jobs.ts')
    const jobs = await prepareJobs(client, documents)
    if (!jobs.ok) return jobs
    documents = jobs.value
  }
  return { ...prepared, documents }
}

async function prepareVolumes(client: Client, manifests: readonly Manifest[]): Promise<PreparedAll> {
  if (!manifests.some(({ value }) => concernsVolumes(value)))
    return { ok: true, documents: manifests.map(asItIs), volumes: new Map() }
  const { listVolumes } = await import('../resources/find-volume.ts')
  const [volumes, nodes] = await Promise.all([
    listVolumes(client),
    nodesByName(
      client,
      manifests.filter(({ value }) => kindOf(value) === 'Volume'),
    ),
  ])
  if (!volumes.ok) return withoutVolumes(volumes, manifests)
  if (!nodes.ok) return nodes
  const known: KnownVolumes = new Map(volumes.value.map((volume) => [volume.name, volume]))
  const documents = manifests.map((manifest) => {
    if (kindOf(manifest.value) === 'Network') return asItIs(manifest)
    return kindOf(manifest.value) === 'Volume'
      ? prepareVolume(manifest, known, nodes.value)
      : prepareWorkload(manifest, known, manifests)
  })
  return { ok: true, documents, volumes: known }
}

const concernsVolumes = (value: Json): boolean =>
  kindOf(value) === 'Volume' || mountedVolumes(value).length > 0 || volumeReferences(value).length > 0

/** On a platform without volumes a mount is sent, so that the platform rejects it; a volume document fails here. */
function withoutVolumes(
  failed: { readonly ok: false; readonly failure: Failure },
  manifests: readonly Manifest[],
): PreparedAll {
  const isDisabled = failed.failure.kind === 'rejected' && failed.failure.status === 404
  if (!isDisabled || manifests.some(({ value }) => kindOf(value) === 'Volume')) return failed
  const documents = manifests.map((manifest) =>
    asItIs({ ...manifest, value: withVolumeIds(manifest.value, () => ANY_VOLUME) }),
  )
  return { ok: true, documents, volumes: new Map() }
}

const ANY_VOLUME = `vol_${'0'.repeat(26)}`

const asItIs = (manifest: Manifest): Prepared => ({
  manifest,
  kind: kindOf(manifest.value),
  judged: manifest.value,
  awaits: [],
  faults: [],
})

function prepareVolume(
  manifest: Manifest,
  known: KnownVolumes,
  nodes: ReadonlyMap<string, string>,
): Prepared {
  const { manifest: resolved, faults } = withNodeId(manifest, nodes, nodeFault)
  const before = known.get(nameOf(resolved.value) ?? '')
  const offline = checkVolumeDocument(resolved.value, ANY)
  const plan = planVolume(volumeBody(resolved.value), before)
  const judged = resolved.value
  const all = [...faults, ...(offline.length > 0 ? offline : plan.faults)]
  return { manifest: resolved, kind: 'Volume', judged, awaits: [], faults: all, plan, before }
}

/** A set that contains every region, because only the platform has the list. */
const ANY: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true })

/** Prepares a deployment or a job. */
function prepareWorkload(manifest: Manifest, known: KnownVolumes, all: readonly Manifest[]): Prepared {
  const declared = new Set(
    all.flatMap(({ value }) => (kindOf(value) === 'Volume' ? (nameOf(value) ?? []) : [])),
  )
  const { value } = manifest
  const name = nameOf(value) ?? ''
  const byId = new Map([...known.values()].map((volume) => [String(volume.id), volume]))
  const find = (volume: string): Volume | undefined => known.get(volume) ?? byId.get(volume)
  const isAwaited = (volume: string): boolean => {
    const stored = find(volume)
    if (stored === undefined) return declared.has(volume)
    return AWAITED.has(stored.phase) && !stored.consumers.includes(name)
  }
  const unknown = volumeReferences(value).filter(
    (reference) => !known.has(reference.name) && !declared.has(reference.name),
  )
  const faults = unknown.map(unknownVolume)
  const isLeftOut = (volume: string): boolean =>
    isAwaited(volume) || unknown.some((reference) => reference.name === volume)
  const judged = withVolumeIds(withoutMounts(value, isLeftOut), (volume) => known.get(volume)?.id)
  const awaits = mountedVolumes(value).filter(isAwaited)
  return { manifest, kind: kindOf(value), judged, awaits, faults }
}

/** The phases that end in Ready without help. A mount of a volume in another phase is rejected by the platform. */
const AWAITED: ReadonlySet<Volume['phase']> = new Set(['Pending', 'Materializing', 'Promoting', 'Resizing'])

const unknownVolume = ({ field, name }: { readonly field: string; readonly name: string }): Rejection => ({
  ...reject('volume_not_found', field, name),
  expected: 'the name or the id of a volume of this tenant, or the name of a volume document of this call',
  why: 'This tenant has no volume with that name. holdfast volume list lists its volumes.',
})
