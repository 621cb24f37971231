// The example in the configuration guide is valid, and the generated reference lists every setting with its default.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultLines, load } from './sample-config.fixture.ts'
import { settingNames, settingRows } from './settings-table.ts'

const docs = new URL('../../../../docs/', import.meta.url)
const guide = readFileSync(new URL('guides/configuration.md', docs), 'utf8')
const reference = readFileSync(new URL('reference/configuration.md', docs), 'utf8')
const example = /```yaml\n(.*?)```/s.exec(guide)?.[1] ?? ''

/** Default of each setting by name, read from the tables of the configuration reference. */
const rows = new Map(
  [...reference.matchAll(/^\| `([^`]+)` \| (.*?) \| /gm)].map(([, name = '', shown = '']) => [name, shown]),
)

test('the example of the configuration guide is valid', () => {
  const loaded = load(example, { readFile: () => ({ kind: 'text', text: 'content\n' }) })
  expect(faultLines(loaded)).toEqual([])
  expect(loaded.ok && loaded.config.residency.regions.benelux).toEqual(['BE', 'LU', 'NL'])
})

/** The test removes `#` from the example lines that are settings: a name, a colon and a value. */
test('the example of the configuration guide is valid with every setting uncommented', () => {
  const everything = example.replaceAll(/^( *)# (?=[a-zA-Z_]+: )/gm, '$1')
  expect(everything).not.toBe(example)
  expect(faultLines(load(everything, { readFile: () => ({ kind: 'text', text: 'content\n' }) }))).toEqual([])
})

test('the configuration reference lists exactly the settings of the schema', () => {
  expect([...rows.keys()].sort()).toEqual(settingNames().sort())
})

test('the configuration reference states the default of every setting', () => {
  for (const { path, node } of settingRows) {
    const value = node.setting?.default
    if (value === undefined || node.kind === 'map') continue
    const shown = Array.isArray(value) ? value.join(', ') : String(value)
    expect(rows.get(path), path).toBe(shown === '' ? 'none' : `\`${shown}\``)
  }
})

test('the configuration reference calls exactly the mandatory settings required', () => {
  const required = [...rows].filter(([, shown]) => shown.startsWith('required')).map(([name]) => name)
  const missing = faultLines(load('etcd: {}\nregistries: [{}]\nsecretsStore: { api: {}, broker: {} }\n'))
    .filter((fault) => fault.startsWith('missing'))
    .map((fault) => fault.split(' ')[1]?.replace('[0]', '[]'))
  expect(required.sort()).toEqual(missing.sort())
})
