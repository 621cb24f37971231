// The guide is written by hand and held to the schema: its example stands, it names every setting, and each default that
// it states is the one that is in force.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultLines, load } from './sample-config.fixture.ts'
import { settingNames, settingRows } from './settings-table.ts'

const guide = readFileSync(new URL('../../../../docs/guides/configuration.md', import.meta.url), 'utf8')
const example = /```yaml\n(.*?)```/s.exec(guide)?.[1] ?? ''

/** Setting to its default, from the rows of the tables. */
const rows = new Map(
  [...guide.matchAll(/^\| `([^`]+)` \| (.*?) \| /gm)].map(([, name = '', shown = '']) => [name, shown]),
)

test('the example is sound', () => {
  const loaded = load(example, { readFile: () => ({ kind: 'text', text: 'content\n' }) })
  expect(faultLines(loaded)).toEqual([])
  expect(loaded.ok && loaded.config.residency.regions.benelux).toEqual(['BE', 'LU', 'NL'])
})

/** A comment that is a setting: a name, a colon and a value. */
test('the example stands with everything uncommented, too', () => {
  const everything = example.replaceAll(/^( *)# (?=[a-zA-Z_]+: )/gm, '$1')
  expect(everything).not.toBe(example)
  expect(faultLines(load(everything, { readFile: () => ({ kind: 'text', text: 'content\n' }) }))).toEqual([])
})

test('every setting has a row, and every row is a setting', () => {
  expect([...rows.keys()].sort()).toEqual(settingNames().sort())
})

test('every row states the default that is in force', () => {
  for (const { path, node } of settingRows) {
    const value = node.setting?.default
    if (value === undefined || node.kind === 'map') continue
    const shown = Array.isArray(value) ? value.join(', ') : String(value)
    expect(rows.get(path), path).toBe(shown === '' ? 'none' : `\`${shown}\``)
  }
})

test('only what must be set is called required', () => {
  const required = [...rows].filter(([, shown]) => shown.startsWith('required')).map(([name]) => name)
  const missing = faultLines(load('etcd: {}\nregistries: [{}]\nsecretsStore: { api: {}, broker: {} }\n'))
    .filter((fault) => fault.startsWith('missing'))
    .map((fault) => fault.split(' ')[1]?.replace('[0]', '[]'))
  expect(required.sort()).toEqual(missing.sort())
})
