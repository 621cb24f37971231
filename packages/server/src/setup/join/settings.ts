// Changes single settings in the text of a configuration, and keeps everything else as the operator wrote it. Pure.

import { isNode, parse, parseDocument } from 'yaml'
import { valueAt } from '../../config/draft.ts'

export interface Setting {
  readonly path: readonly string[]
  readonly value: string | number | readonly string[]
}

export function withSettings(text: string, settings: readonly Setting[]): string {
  const document = parseDocument(text)
  for (const { path, value } of settings) {
    const before = document.getIn(path, true)
    // A new value in place of the list keeps the comment behind it.
    const node = typeof value === 'object' ? document.createNode(value, { flow: true }) : value
    if (isNode(before) && isNode(node)) node.comment = before.comment ?? null
    document.setIn(path, node)
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true })
}

/** The settings that the text lacks or that have another value; all of them if the text is no YAML. */
export function changedSettings(text: string, settings: readonly Setting[]): readonly Setting[] {
  const tree = parseSafely(text)
  return settings.filter(({ path, value }) => JSON.stringify(valueAt(tree, path)) !== JSON.stringify(value))
}

function parseSafely(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
