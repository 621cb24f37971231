// Checks a manifest while a person types it, with the rules that the server uses, and finds the line of every fault. Nothing
// leaves the browser here, so that a pasted credential is seen before it is sent.

import { isJsonObject, type Json, type PathStep, type Rejection } from '@holdfast/contract'
import {
  checkManifest,
  checkSent,
  foreignSentence,
  hintFor,
  kindOf,
  locate,
  locateRejection,
  type Manifest,
  parseSource,
  positionOf,
  receivedText,
  type Span,
  writtenField,
} from '@holdfast/manifest'
import { faultTexts } from '../../texts/en/faults.ts'
import { texts } from '../../texts/en.ts'

export interface Fault extends Span {
  readonly line: number
  /** The fault itself, in a sentence. */
  readonly what: string
  readonly field?: string
  readonly expected?: string
  /** The next step. */
  readonly hint?: string
  /** Why it is a fault, in a sentence. */
  readonly why?: string
  /** The reference page of the code. */
  readonly doc?: string
}

export interface CheckedText {
  /** In the order of the lines. */
  readonly faults: readonly Fault[]
  /** The document; absent if the text is not exactly one. */
  readonly manifest?: Manifest
}

/** `deployment`: the name of the deployment that is edited; absent for a new one. */
export function checkText(text: string, deployment?: string): CheckedText {
  const { manifests, faults } = parseSource({ name: 'manifest.yaml', bytes: new TextEncoder().encode(text) })
  const [manifest, second] = manifests
  if (faults.length > 0)
    return {
      faults: faults.map(({ file, offset, message }) => ({
        ...{ start: offset, end: offset + 1, line: positionOf(file, offset).line },
        what: texts.editor.syntax(message),
      })),
    }
  if (manifest === undefined) return { faults: [{ start: 0, end: 0, line: 1, what: texts.editor.empty }] }
  if (second !== undefined) return { faults: [faultAt(second, [], texts.editor.several)] }
  const found = faultsOf(manifest, deployment)
  return { manifest, faults: found.toSorted((left, right) => left.start - right.start) }
}

function faultsOf(manifest: Manifest, deployment: string | undefined): Fault[] {
  const { value, foreign } = manifest
  if (foreign !== undefined) return [faultAt(manifest, [foreign.key], `${foreignSentence(foreign)}.`)]
  if (kindOf(value) !== 'Deployment') return [faultAt(manifest, ['kind'], texts.editor.otherKind)]
  const rejections = deployment === undefined ? checkManifest(manifest) : checkManifest(manifest, checkSent)
  return [
    ...locateRejections(manifest, rejections),
    ...nameFaults(manifest, deployment),
    ...secretFaults(manifest),
  ]
}

/** The name identifies the deployment, so an edit cannot change it. */
function nameFaults(manifest: Manifest, deployment: string | undefined): Fault[] {
  const name = isJsonObject(manifest.value) ? manifest.value.name : undefined
  return deployment === undefined || name === deployment
    ? []
    : [faultAt(manifest, ['name'], texts.editor.renamed(deployment))]
}

/** Values of secrets would stay in this text, so they are written as secrets instead. */
function secretFaults(manifest: Manifest): Fault[] {
  const secrets = isJsonObject(manifest.value) ? manifest.value.secrets : undefined
  if (!Array.isArray(secrets)) return []
  return secrets.flatMap((entry: Json, at) =>
    isJsonObject(entry) && entry.values !== undefined
      ? [
          {
            ...faultAt(manifest, ['secrets', at, 'values'], texts.editor.secretValues),
            hint: texts.editor.writeSecret,
          },
        ]
      : [],
  )
}

const faultAt = (manifest: Manifest, steps: readonly PathStep[], what: string): Fault =>
  placed(manifest, locate(manifest.tree, steps, 'key'), what)

const placed = (manifest: Manifest, span: Span, what: string): Fault => ({
  ...span,
  line: positionOf(manifest.file, span.start).line,
  what,
})

/** Rejections of the rules or of the server, at their place in the text. */
export function locateRejections(manifest: Manifest, rejections: readonly Rejection[]): Fault[] {
  return rejections.map((rejection) => {
    const hint = hintFor(rejection, manifest.value)
    return {
      ...placed(manifest, locateRejection(manifest, rejection), whatIsWrong(rejection, manifest.value)),
      field: writtenField(manifest, rejection.field),
      expected: rejection.expected,
      why: rejection.why,
      ...(hint === undefined ? {} : { hint }),
      ...(rejection.doc === '' ? {} : { doc: rejection.doc }),
    }
  })
}

/** The fault itself. The sentence of the rule explains why it is one, which people read second. */
function whatIsWrong(rejection: Rejection, document: Json): string {
  if (rejection.code === 'field_unknown') return faultTexts.unknownField
  const received = receivedText(rejection, document)
  if (received === '') return faultTexts.missing
  return received.startsWith(REDACTED) ? faultTexts.hiddenValue : faultTexts.value(received)
}

/** The beginning of a received text that stands for a value which may be secret. */
const REDACTED = '<redacted'
