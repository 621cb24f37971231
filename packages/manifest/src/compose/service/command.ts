// Translates `entrypoint` to command and `command` to args. A line of text is split into words, as Compose does.

import { isFromVariable, type KnownCredentials } from '../credentials.ts'
import type { Translation } from '../draft.ts'
import { splitWords } from '../source/split-words.ts'
import { isEmpty, type Written } from '../source/written.ts'

const RESET = 'An empty list resets what the image defines, and a manifest cannot express that.'
const RESET_NEXT = 'Write the program and its arguments that the container needs.'

export function translateCommand(translation: Translation, field: 'command' | 'args', node: Written) {
  const { report, draft } = translation
  if (isEmpty(node)) return report.ignored(node, 'It has no value, so the image decides.')
  const words = commandWords(node)
  if (words === undefined) return report.refused(node, 'It is neither a command line nor a list of words.')
  if (words.length === 0) return report.refused(node, RESET, RESET_NEXT)
  draft.fields[field] = words
}

/** Whether the words of a command contain a credential, or the value of a variable whose name suggests one. */
export function hasCredential(credentials: KnownCredentials, node: Written): boolean {
  const words = node.kind === 'scalar' ? [node.text ?? ''] : (wordsOf(node) ?? [])
  return isFromVariable(node) || [words.join(' '), ...words].some(credentials.isIn)
}

/** The words of a command; undefined for another form. */
function commandWords(node: Written): string[] | undefined {
  if (node.kind === 'scalar') return splitWords(node.text ?? '')
  return wordsOf(node)
}

/** The texts of a list of scalars; undefined for everything else. */
export function wordsOf(node: Written): string[] | undefined {
  if (node.kind !== 'list') return undefined
  const words = node.items.flatMap((item) =>
    item.kind === 'scalar' && item.text !== null ? [item.text] : [],
  )
  return words.length === node.items.length ? words : undefined
}
