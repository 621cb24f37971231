import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { VERSION } from './version.ts'

test('servers and agents report the version of the packages', () => {
  const packages = join(import.meta.dirname, '../..')
  for (const name of readdirSync(packages)) {
    const { version } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
    expect([name, version]).toEqual([name, VERSION])
  }
})
