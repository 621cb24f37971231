import { expect, test } from 'vitest'
import { invocation, scriptClient, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { secretSet } from './secret-set.ts'

test('secret set names the deployments that still use an older version, with the next command', async () => {
  const consumer = (deployment: string, version: number | null, vault_path = 'resources/db') => ({
    deployment,
    uid: deployment,
    secret: 'DB',
    vault_path,
    anchor: 'external',
    version,
  })
  const items = [
    consumer('api', 1),
    consumer('new', 2),
    consumer('waiting', null),
    consumer('other', 1, 'deployments/db'),
  ]
  const client = scriptClient({
    'PATCH /secrets/resources/db': {
      path: 'resources/db',
      namespace: 'resources',
      resource: 'db',
      version: 2,
      keys: ['a', 'b'],
      warnings: [],
    },
    'GET /secrets/resources/db/consumers?limit=500': { items, nextCursor: null },
  })
  const terminal = scriptTerminal()
  const typed = invocation(terminal, ['resources/db'], { add: true, generate: 'b' })
  expect(await secretSet.run(typed, client)).toBe(0)
  expect(terminal.printed).toEqual({
    out: 'secret/resources/db version 2 written\n',
    err: 'keys: a, b\napi still uses version 1; next: holdfast rollout restart api\n',
  })
})
