// Checks manifests offline with the functions that the server uses. Checks that need server state (registries, regions,
// images) are left to the server.

import type { Json, PathStep, Rejection } from '@holdfast/contract'
import { childPath, elementPath, isJsonObject } from '@holdfast/contract'
import { type AdmissionContext, admissionContext, checkBody, reject } from '@holdfast/core/admission'
import { isMissingOrMisspelled } from './hints.ts'
import { checkJobDocument } from './job-document.ts'
import { checkNetworkDocument } from './network-document.ts'
import type { Manifest } from './parse-source.ts'
import { checkVolumeDocument, kindOf } from './volume-document.ts'
import { withVolumeIds } from './volume-names.ts'

/** A set that contains every registry and region: an offline check accepts all, because only the server has the lists. */
const ANY: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true })

/** Only the server knows whether volumes are enabled, so an offline check accepts mounts. */
const CONTEXT = admissionContext({ registries: ANY, regions: ANY, volumesEnabled: true })

/**
 * Checks a manifest offline. Returns rejections in the same order as the server. If `kind` is missing or misspelled, the
 * faults of the other fields follow, which the server does not list.
 */
export const checkOffline = (body: Json): Rejection[] => checkAll(body, CONTEXT)

/**
 * Checks the fields that a manifest has, as an update does, which may leave out the others. The rejections are true for
 * a new deployment too.
 */
export const checkSent = (body: Json): Rejection[] => checkAll(body, { ...CONTEXT, mode: 'update' })

function checkAll(body: Json, context: AdmissionContext): Rejection[] {
  const rejections = checkBody(body, context)
  if (!rejections.some(isOfKind) || !isJsonObject(body) || !isMissingOrMisspelled(body.kind))
    return rejections
  return [...rejections, ...checkBody({ ...body, kind: 'Deployment' }, context)]
}

const isOfKind = ({ code }: Rejection): boolean => code === 'manifest_wrong_kind'

/** The rejections of the server, with the faults that it does not list because of the kind of the document. */
export const withFaultsBesideKind = (rejections: readonly Rejection[], value: Json): readonly Rejection[] =>
  rejections.some(isOfKind)
    ? [...rejections, ...checkSent(value).filter((each) => !isOfKind(each))]
    : rejections

/** Every fault of a document that can be found without the platform. A document of another system has none of them. */
export function checkManifest({ value, faults, foreign }: Manifest, check = checkOffline): Rejection[] {
  if (foreign !== undefined) return []
  if (kindOf(value) === 'Network') return [...faults, ...checkNetworkDocument(value)]
  const identified = withVolumeIds(value, () => ANY_VOLUME)
  if (kindOf(value) === 'Job') return [...faults, ...checkJobDocument(identified, CONTEXT)]
  if (kindOf(value) !== 'Volume') return [...faults, ...check(identified)]
  const others = checkVolumeDocument(value, ANY)
  // A rejected quantity is left out of the value, so the size seems to be absent.
  return [...faults, ...(faults.length === 0 ? others : others.filter(({ field }) => field !== 'sizeBytes'))]
}

/** An id for a volume that a manifest names. */
const ANY_VOLUME = `vol_${'0'.repeat(26)}`

/** Whether the platform would redact the value at this path in its own messages. */
export function looksSecret(steps: readonly PathStep[], value: Json): boolean {
  const field = steps.reduce<string>(
    (parent, step) => (typeof step === 'number' ? elementPath(parent, step) : childPath(parent, step)),
    '',
  )
  const { received } = reject('field_type_invalid', field, value, { accepted: '' })
  return received.startsWith('<redacted ')
}
