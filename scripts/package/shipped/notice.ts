// Writes the notice of a package: its own licence, then the licence texts of everything that ships inside it, each text once.

import { purlOf, type Shipped } from './shipped.ts'

const RULE = `\n${'-'.repeat(80)}\n`

export function noticeOf(name: string, ownLicence: string, shipped: readonly Shipped[]): string {
  const list = shipped.map((each) => `  ${purlOf(each)}  ${each.licence ?? 'unknown'}`)
  const head = [
    `${name} is distributed under the Apache License 2.0. It contains the components below, under their own licences.`,
    '',
    ...list,
  ].join('\n')
  return [head, `holdfast\n\n${ownLicence.trim()}`, ...groupTexts(shipped)].join(`\n${RULE}\n`).concat('\n')
}

/** Many components share a text to the letter; it is printed once, after their names. */
function groupTexts(shipped: readonly Shipped[]): string[] {
  const users = new Map<string, string[]>()
  for (const each of shipped)
    for (const { text } of each.texts) {
      const key = text.replaceAll('\r\n', '\n').trim()
      users.set(key, [...(users.get(key) ?? []), purlOf(each)])
    }
  return [...users].map(([text, names]) => `${[...new Set(names)].join('\n')}\n\n${text}`)
}
