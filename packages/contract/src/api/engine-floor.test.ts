// Tests which Docker Engine versions cause a warning when a node enrolls.

import { expect, test } from 'vitest'
import { ENGINE_FLOOR, engineWarnings } from './node.ts'

test.each([
  '29.5.1',
  '29.5.2',
  '29.5.1+azure-1',
  '29.6.0-rc.1',
  '30.0',
  'v29.8.0',
  '29.8.1-moby-2.0.0-beta.24',
])('engine %s causes no warning', (version) => {
  expect(engineWarnings(version)).toEqual([])
})

test.each(['20.10.24+dfsg1', '28.9.9', '29.5.0', '29.5', '29.5.1-rc.1'])(
  'engine %s is below the minimum version',
  (version) => {
    expect(engineWarnings(version)).toEqual([
      {
        code: 'engine_below_floor',
        field: 'engine.version',
        why: expect.stringMatching(
          new RegExp(`is ${version.replaceAll(/[.+]/g, '.')}; versions below ${ENGINE_FLOOR}`),
        ),
      },
    ])
  },
)

test.each(['library-import', '', 'dev', '29', 'x29.8.0'])(
  'warns about the engine version %j, which cannot be compared',
  (version) => {
    expect(engineWarnings(version)).toEqual([
      expect.objectContaining({
        code: 'engine_below_floor',
        why: expect.stringContaining('cannot be compared'),
      }),
    ])
  },
)
