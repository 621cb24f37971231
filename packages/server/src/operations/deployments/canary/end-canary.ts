// How a canary ends with the deployment's next revision: it is promoted, or superseded and aborted. An aborted canary stays
// in the record until the next revision or the next canary.

import { defined, elementPath, type JsonObject, type Warning } from '@holdfast/contract'
import {
  abortCanary,
  anchorVolume,
  CANARY_ENDED,
  credentialPath,
  isActiveCanary,
  newestUsable,
} from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import { canarySpec } from '../../../scheduling/canary-spec.ts'
import type { StoredCanary, StoredCredential, StoredDeployment } from '../../../store/records.ts'
import type { NewEvent } from '../../record-write.ts'

/** The canary in the record of another revision; a canary that was over before is left out. */
export function supersededCanary(
  { canary }: StoredDeployment,
  clock: Clock,
): { readonly canary?: StoredCanary } {
  if (canary === undefined || !isActiveCanary(canary)) return {}
  return { canary: abortCanary(canary, 'superseded', clock.now()) }
}

export function supersededWarning({ canary }: StoredDeployment): Warning[] {
  if (!isActiveCanary(canary)) return []
  const why = 'The new revision supersedes the canary. Its replicas are removed.'
  return [{ code: 'canary_aborted', field: 'canary', why }]
}

/** The secrets of an aborted canary whose versions stay the newest, so that the next revision uses them. */
export function leftVersions(
  { spec }: StoredDeployment,
  { pins = {} }: StoredCanary,
  credentialOf: (label: string) => StoredCredential | undefined,
): Warning[] {
  return spec.secrets.flatMap(({ vault_path, anchor }, at): Warning[] => {
    const { label } = credentialPath(vault_path)
    const { versions = [], rotation } = credentialOf(label) ?? {}
    const version = newestUsable(versions, rotation?.new)?.version
    // Only a cutover moves the pin of a secret that a volume depends on.
    if (version === undefined || pins[label] !== version || anchorVolume(anchor) !== undefined) return []
    const why = `Version ${version} of ${vault_path}, which the canary used, stays the newest one. The next revision of ${spec.name} uses it; write other values before if it must not.`
    return [{ code: 'canary_aborted', field: `${elementPath('secrets', at)}.vault_path`, why }]
  })
}

/** The references of a deployment with those of its running canary, so that nothing is deleted that the canary uses. */
export function claimedSpec(stored: StoredDeployment): StoredDeployment['spec'] {
  const { spec, canary } = stored
  if (canary === undefined || !isActiveCanary(canary)) return spec
  const other = canarySpec(stored, canary)
  const networks = [...new Set([...(spec.networks ?? []), ...(other.networks ?? [])])]
  const volumes = [...(spec.volumes ?? []), ...(other.volumes ?? [])]
  return {
    ...spec,
    secrets: [...spec.secrets, ...other.secrets],
    ...(volumes.length === 0 ? {} : { volumes }),
    ...(networks.length === 0 ? {} : { networks }),
  }
}

/** The event of a canary that the next revision ends; undefined if it ends none. */
export function endedEvent(
  before: StoredDeployment | undefined,
  next: StoredDeployment,
): NewEvent | undefined {
  if (before?.canary === undefined || !isActiveCanary(before.canary)) return undefined
  if (next.canary === undefined) return promotedEvent(next, before.canary)
  return isActiveCanary(next.canary) ? undefined : abortedEvent(next, next.canary.since, 'superseded')
}

function promotedEvent({ uid, spec: { name }, revision }: StoredDeployment, canary: StoredCanary): NewEvent {
  return {
    type: 'deployment.canary_promoted',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid },
    cause: canary.startedAt,
    reason: 'promoted',
    message: `The canary of deployment ${name} was promoted to revision ${revision}.`,
    data: { revision, forced: canary.phase !== 'ready' },
  }
}

export function abortedEvent(
  { uid, spec: { name } }: StoredDeployment,
  since: string,
  reason: 'aborted' | 'superseded',
): NewEvent {
  return {
    type: 'deployment.canary_aborted',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid },
    cause: since,
    reason,
    message: `The canary of deployment ${name} was aborted ${CANARY_ENDED[reason]}.`,
    data: {},
  }
}

/** The canary as clients see it. */
export function canaryView(canary: StoredCanary | undefined) {
  if (canary === undefined) return {}
  const { phase, reason, since, replicas, weight, observe, failures } = canary
  const change: JsonObject = { ...canary.change }
  return defined({ canary: { phase, reason, since, replicas, weight, observe, failures, change } })
}
