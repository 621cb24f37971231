// Two clones write the same bytes into a single binary.

import { isAbsolute } from 'node:path'
import { expect, test } from 'vitest'
import { binaryConfig, NODE_WORDS } from '../../../scripts/package/binary/binary-config.ts'

test('its paths name no folder', () => {
  const { config, main, output } = binaryConfig('holdfast')
  expect(JSON.parse(config)).toMatchObject({ main, output, mainFormat: 'module', useCodeCache: true })
  expect([main, output].some((path) => isAbsolute(path) || path.includes('/'))).toBe(false)
})

test('the compiled code is made with a fixed seed', () => expect(NODE_WORDS).toContain('--random-seed=1'))
