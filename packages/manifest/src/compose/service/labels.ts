// Translates `labels`, a map or a list of key=value. Labels that control engines and proxies are not accepted.

import { isLabelKey, isLabelValue } from '@holdfast/core/admission'
import { isFromVariable } from '../credentials.ts'
import type { Translation } from '../draft.ts'
import { isEmpty, scalarLike, type Written, type WrittenScalar } from '../source/written.ts'

const RESERVED = /^(?:holdfast\.io\/|com\.docker\.)/i
const PROXY = /^(?:traefik\.|caddy)/i

export function translateLabels(translation: Translation, node: Written): void {
  const labels = labelsOf(translation, node)
  if (Object.keys(labels).length > 0) translation.draft.fields.labels = labels
}

/** The labels that a manifest can have. The others are refused. */
export function labelsOf(
  { report, credentials }: Pick<Translation, 'report' | 'credentials'>,
  node: Written,
): { [key: string]: string } {
  const labels: { [key: string]: string } = {}
  for (const [key, value] of pairsOf({ report }, node)) {
    const text = value.text ?? ''
    report.carried(value)
    const refuse = (why: string, next?: string): void => report.refused(value, why, next)
    if (PROXY.test(key))
      refuse('Labels do not configure the proxy of Holdfast.', 'Write its host, path and port in routes.')
    else if (RESERVED.test(key)) refuse('The prefix of the label is reserved.')
    else if (!isLabelKey(key) || credentials.isIn(key))
      refuse('A label key is name or prefix/name, of letters, digits, ".", "_" and "-".', 'Rename the label.')
    else if (credentials.isIn(text) || isFromVariable(value))
      refuse('It contains a credential, and labels are shown in plain text.')
    else if (!isLabelValue(text)) refuse('A label value has at most 253 printable ASCII characters.')
    else labels[key] = text
  }
  return labels
}

/** The keys and values of a map or of a list of key=value. Other elements are refused. */
export function pairsOf({ report }: Pick<Translation, 'report'>, node: Written): [string, WrittenScalar][] {
  if (isEmpty(node)) return []
  if (node.kind === 'scalar') {
    report.refused(node, 'It is neither a map nor a list.')
    return []
  }
  const found = node.kind === 'map' ? [...node.members] : node.items.map((item) => ['', item] as const)
  return found.flatMap(([key, value]): [string, WrittenScalar][] => {
    if (value.kind !== 'scalar') {
      report.refused(value, 'It is not a text.')
      return []
    }
    return [node.kind === 'map' ? [key, value] : pairOf(value)]
  })
}

function pairOf(item: WrittenScalar): [string, WrittenScalar] {
  const text = item.text ?? ''
  const at = text.indexOf('=')
  return at === -1
    ? [text, scalarLike(item, null)]
    : [text.slice(0, at), scalarLike(item, text.slice(at + 1))]
}
