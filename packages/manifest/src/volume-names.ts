// The places of a deployment manifest that refer to a volume: mounts, and anchors of secrets. A manifest may use the name
// of a volume there; the API accepts ids only.

import { elementPath, isJsonObject, isVolumeId, type Json, type JsonObject } from '@holdfast/contract'
import { isDeploymentName } from '@holdfast/core/admission'

/** A place at which a manifest uses the name of a volume. */
export interface VolumeReference {
  readonly field: string
  readonly name: string
}

/** Names of volumes have the grammar of deployment names, so a name is never an id. */
const isName = (text: Json | undefined): text is string =>
  typeof text === 'string' && !isVolumeId(text) && isDeploymentName(text)

const ANCHOR = /^volume\((.+)\)$/

/** The name in `volume(<name>)`; undefined for every other anchor. */
function anchoredName(anchor: Json | undefined): string | undefined {
  const named = typeof anchor === 'string' ? ANCHOR.exec(anchor)?.[1] : undefined
  return isName(named) ? named : undefined
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
const memberOf = (value: Json, member: string): Json | undefined =>
  isJsonObject(value) ? value[member] : undefined

export function volumeReferences(value: Json): VolumeReference[] {
  const mounts = listOf(memberOf(value, 'volumes')).flatMap((mount, at) => {
    const name = memberOf(mount, 'volume')
    return isName(name) ? [{ field: `${elementPath('volumes', at)}.volume`, name }] : []
  })
  const anchors = listOf(memberOf(value, 'secrets')).flatMap((entry, at) => {
    const name = anchoredName(memberOf(entry, 'anchor'))
    return name === undefined ? [] : [{ field: `${elementPath('secrets', at)}.anchor`, name }]
  })
  return [...mounts, ...anchors]
}

/** The volumes that a manifest mounts, as it refers to them: by name or by id. */
export const mountedVolumes = (value: Json): string[] =>
  listOf(memberOf(value, 'volumes')).flatMap((mount) => {
    const volume = memberOf(mount, 'volume')
    return typeof volume === 'string' ? [volume] : []
  })

/** Replaces the names of volumes by ids. A name without an id stays. */
export function withVolumeIds(value: Json, idOf: (name: string) => string | undefined): Json {
  return changeEntries(value, {
    volumes(mount) {
      const id = isName(mount.volume) ? idOf(mount.volume) : undefined
      return id === undefined ? mount : { ...mount, volume: id }
    },
    secrets(entry) {
      const name = anchoredName(entry.anchor)
      const id = name === undefined ? undefined : idOf(name)
      return id === undefined ? entry : { ...entry, anchor: `volume(${id})` }
    },
  })
}

/**
 * Leaves out the mounts of some volumes, so that the platform can judge everything else. A secret that such a volume
 * anchors is judged as an external one.
 */
export function withoutMounts(value: Json, isLeftOut: (volume: string) => boolean): Json {
  return changeEntries(value, {
    volumes: (mount) => (typeof mount.volume === 'string' && isLeftOut(mount.volume) ? undefined : mount),
    secrets(entry) {
      const anchored = typeof entry.anchor === 'string' ? ANCHOR.exec(entry.anchor)?.[1] : undefined
      return anchored !== undefined && isLeftOut(anchored) ? { ...entry, anchor: 'external' } : entry
    },
  })
}

type Change = (entry: JsonObject) => JsonObject | undefined

/** Changes the objects in lists of a document; undefined removes an object. Entries of other types stay. */
function changeEntries(value: Json, changes: { readonly [list: string]: Change }): Json {
  if (!isJsonObject(value)) return value
  const changed: JsonObject = { ...value }
  for (const [list, change] of Object.entries(changes)) {
    const entries = value[list]
    if (Array.isArray(entries))
      changed[list] = entries.flatMap((entry) => (isJsonObject(entry) ? (change(entry) ?? []) : [entry]))
  }
  return changed
}
