// The contexts file belongs to commands of all versions: an older command keeps what a newer one wrote.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { withContext } from './contexts.ts'
import { readContextsFile, writeContextsFile } from './contexts-file.ts'

test('keeps members of a newer version in the file, in other contexts and in a replaced context', async () => {
  const path = join(makeTempFolder('contexts').path, 'config.yaml')
  const newer = { newer: { deep: [1] } }
  const contexts = { one: { url: 'http://one', ...newer }, two: { url: 'http://two', ...newer } }
  writeFileSync(path, stringify({ current: 'one', contexts, ...newer }), { mode: 0o600 })
  const file = await readContextsFile(path)
  if (!file.ok) throw new Error(file.why)
  await writeContextsFile(path, withContext(file.contexts, 'two', { url: 'http://three' }))
  expect(parse(readFileSync(path, 'utf8'))).toEqual({
    current: 'two',
    contexts: { ...contexts, two: { url: 'http://three', ...newer } },
    ...newer,
  })
})
