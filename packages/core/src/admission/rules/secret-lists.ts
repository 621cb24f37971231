// Rules between entries of `secrets` and other fields: names are unique, a label has one namespace, an anchor names a
// mounted volume, and a template refers to declared labels.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import { safeKey } from '../../credentials/index.ts'
import { anchorVolume } from '../../secrets/anchor.ts'
import { parseTemplate } from '../../secrets/placeholders.ts'
import { credentialPath } from '../../secrets/vault-path.ts'
import { type CrossRefusal, type CrossRule, createRepeatCheck } from '../rule-engine/cross-rule.ts'
import { accepted } from '../rule-engine/rule.ts'

export const secretListsRules: readonly CrossRule[] = [
  { code: 'secret_name_invalid', at: 'secrets[*].name', needs: [], refusals: namesTwice },
  {
    code: 'secret_path_namespace_split',
    at: 'secrets[*].vault_path',
    needs: [],
    refusals: labelsInTwoNamespaces,
  },
  {
    code: 'secret_anchor_volume_not_declared',
    at: 'secrets[*].anchor',
    needs: ['volumes'],
    refusals: (merged) => anchorsWhere(merged, (types) => types.length === 0),
  },
  {
    code: 'secret_anchor_volume_ephemeral',
    at: 'secrets[*].anchor',
    needs: ['volumes'],
    refusals: (merged) =>
      anchorsWhere(merged, (types) => types.length > 0 && types.every((type) => type === 'tmpfs')),
  },
  { code: 'field_type_invalid', at: 'secrets[*].values', needs: [], refusals: materialTwice },
]

export const composedListsRules: readonly CrossRule[] = [
  {
    code: 'secret_compose_resource_undeclared',
    at: 'composedEnvironment.*',
    needs: ['secrets'],
    refusals: undeclaredResources,
  },
]

/** The entries of `secrets` that are objects, each with its index. */
export function entriesOf({ secrets }: JsonObject): [number, JsonObject][] {
  if (!Array.isArray(secrets)) return []
  return secrets.flatMap((entry, index): [number, JsonObject][] =>
    isJsonObject(entry) ? [[index, entry]] : [],
  )
}

function namesTwice(merged: JsonObject): CrossRefusal[] {
  const isRepeat = createRepeatCheck()
  return entriesOf(merged).flatMap(([index, { name }]) => {
    if (typeof name !== 'string') return []
    return isRepeat(name) ? [{ path: ['secrets', index, 'name'], value: name }] : []
  })
}

function labelsInTwoNamespaces(merged: JsonObject): CrossRefusal[] {
  const bound = new Map<string, string>()
  return entriesOf(merged).flatMap(([index, { vault_path }]) => {
    if (typeof vault_path !== 'string') return []
    const { namespace: asked, label } = credentialPath(vault_path)
    const namespace = bound.get(label) ?? asked
    bound.set(label, namespace)
    const params = { namespace: safeKey(namespace), label: safeKey(label) }
    return namespace === asked ? [] : [{ path: ['secrets', index, 'vault_path'], value: vault_path, params }]
  })
}

/** Rejects anchors whose volume `asked` selects. `asked` gets the types of the volume's mounts; none if unmounted. */
function anchorsWhere(
  merged: JsonObject,
  asked: (types: readonly (Json | undefined)[]) => boolean,
): CrossRefusal[] {
  return entriesOf(merged).flatMap(([index, { anchor }]) => {
    const volume = typeof anchor === 'string' ? anchorVolume(anchor) : undefined
    if (volume === undefined || !asked(mountTypes(merged, volume))) return []
    return [{ path: ['secrets', index, 'anchor'], value: anchor }]
  })
}

function mountTypes({ volumes }: JsonObject, id: string): (Json | undefined)[] {
  const mounts = Array.isArray(volumes) ? volumes.filter((mount) => isJsonObject(mount)) : []
  return mounts.filter(({ volume }) => volume === id).map(({ type }) => type)
}

/** Rejects values for one credential in two secret entries, because a write creates one version per credential. */
function materialTwice(merged: JsonObject): CrossRefusal[] {
  const isRepeat = createRepeatCheck()
  return entriesOf(merged).flatMap(([index, { vault_path, values, generate }]) => {
    const field = values === undefined ? 'generate' : 'values'
    const sent = values ?? generate
    if (typeof vault_path !== 'string' || sent === undefined || !isRepeat(vault_path)) return []
    return [
      { path: ['secrets', index, field], value: sent, ...accepted('material for a path in one entry alone') },
    ]
  })
}

function undeclaredResources(merged: JsonObject): CrossRefusal[] {
  const { composedEnvironment } = merged
  if (!isJsonObject(composedEnvironment)) return []
  const declared = new Set(
    entriesOf(merged).map(([, { vault_path }]) => credentialPath(String(vault_path)).label),
  )
  const listed = [...declared].map(safeKey).join(', ') || 'none'
  return Object.entries(composedEnvironment).flatMap(([variable, template]) => {
    const parts = typeof template === 'string' ? parseTemplate(template) : undefined
    const resource = parts
      ?.flatMap((part) => (typeof part === 'string' ? [] : [part.resource]))
      .find((label) => !declared.has(label))
    if (resource === undefined) return []
    const params = { resource: safeKey(resource), declared: listed }
    return [{ path: ['composedEnvironment', variable], value: template, params }]
  })
}
