// The search for leaked secret values finds a value in every encoding. Other tests use this search to prove absence.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { formsOf, searchFor } from '@holdfast/testkit/secrets/find-values'
import { expect, onTestFinished, test } from 'vitest'

const VALUE = 'k3y "with" <all> & ü/?\\ 100% of it'
const OTHER = 'another-value-of-no-interest-0001'
const search = searchFor([OTHER, VALUE])

const FORMS: readonly [string, string][] = [
  ['as it is', VALUE],
  ['in JSON', JSON.stringify({ a: VALUE })],
  ['in JSON inside JSON', JSON.stringify(JSON.stringify({ a: VALUE }))],
  ['in the JSON of Go', '"k3y \\"with\\" \\u003call\\u003e \\u0026 ü/?\\\\ 100% of it"'],
  ['in a URL', `http://a/?b=${encodeURIComponent(VALUE)}&c`],
  ['in a form', `b=${encodeURIComponent(VALUE).replaceAll('%20', '+')}`],
  ['in hex', Buffer.from(`..${VALUE}`).toString('hex')],
  ...['', 'a', 'ab', 'abc', 'user:'].flatMap((before): [string, string][] => [
    [`in base64 behind "${before}"`, Buffer.from(`${before}${VALUE} and more`).toString('base64')],
    [`in base64url behind "${before}"`, Buffer.from(`${before}${VALUE}`).toString('base64url')],
  ]),
]

test.each(FORMS)('a secret value is found %s', (_form, text) => {
  expect([...search.in(Buffer.from(text))]).toEqual([VALUE])
  expect([...search.in(Buffer.from(`${'\0'.repeat(70_000)}${text}\n${OTHER}`))].sort()).toEqual([
    OTHER,
    VALUE,
  ])
})

test('a text that only resembles a secret value is not found', () => {
  const near = formsOf(VALUE).map((form) => form.slice(0, -2))
  expect(search.in(Buffer.from(near.join('~')))).toEqual(new Set())
  expect(search.in(Buffer.alloc(3))).toEqual(new Set())
})

test('a folder is searched completely, except for excluded files and links', () => {
  const { path, remove } = makeTempFolder('find-values')
  onTestFinished(remove)
  mkdirSync(join(path, 'a/b'), { recursive: true })
  writeFileSync(join(path, 'a/b/deep'), Buffer.concat([Buffer.alloc(5000), Buffer.from(VALUE)]))
  writeFileSync(join(path, 'a/left-out'), VALUE)
  writeFileSync(join(path, 'empty'), '')
  symlinkSync(join(path, 'a'), join(path, 'link'))
  const found = search.inFolder(path, (name) => name === 'a/left-out')
  expect([...found]).toEqual([['a/b/deep', new Set([VALUE])]])
})
