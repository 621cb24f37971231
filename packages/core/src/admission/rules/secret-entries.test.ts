import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const entry = (parts: { [field: string]: unknown }) => ({
  secrets: [{ name: 'DB', vault_path: 'deployments/db', ...parts }],
})
const path = (vault_path: unknown) => entry({ vault_path })
const VOLUME = 'vol_01JCPZ0000000000000000000A'
const mount = { volume: VOLUME, target: '/data', type: 'volume', readOnly: false }
const at = (code: string, field: string) => `${code} secrets[0].${field}`

const ROWS: Row[] = [
  ['the least entry', entry({})],
  ['all of it', entry({ anchor: 'process', rotation: 'restart' })],
  ['no name', entry({ name: undefined }), at('secret_name_invalid', 'name')],
  ['a null name', entry({ name: null }), at('secret_name_invalid', 'name')],
  ['an empty name', entry({ name: '' }), at('secret_name_invalid', 'name')],
  ['a hyphen in the name', entry({ name: 'ORDERS-DB' }), at('secret_name_invalid', 'name')],
  ['a name of other letters', entry({ name: 'DÄ' }), at('secret_name_invalid', 'name')],
  ['a name with a line end', entry({ name: 'DB\n' }), at('secret_name_invalid', 'name')],
  ['a name of a wrong type', entry({ name: 5 }), at('field_type_invalid', 'name')],
  ['a name of digits', entry({ name: '9_a' })],
  [
    'a repeated name',
    { secrets: ['a', 'b', 'a'].map((name) => ({ name, vault_path: 'deployments/db' })) },
    'secret_name_invalid secrets[2].name',
  ],
  ['no path', path(undefined), at('secret_vault_path_required', 'vault_path')],
  ['a null path', path(null), at('secret_vault_path_required', 'vault_path')],
  ['an empty path', path(''), at('secret_vault_path_required', 'vault_path')],
  ['a path of a wrong type', path(['deployments/db']), at('field_type_invalid', 'vault_path')],
  ['an absolute path', path('/deployments/db'), at('secret_vault_path_not_relative', 'vault_path')],
  ['a slash', path('/'), at('secret_vault_path_not_relative', 'vault_path')],
  ['a way out', path('deployments/../db'), at('secret_vault_path_not_relative', 'vault_path')],
  ['only a way out', path('..'), at('secret_vault_path_not_relative', 'vault_path')],
  ['a way out at the end', path('x/y/..'), at('secret_vault_path_not_relative', 'vault_path')],
  ['one segment', path('db'), at('secret_path_shape', 'vault_path')],
  ['three segments', path('deployments/a/b'), at('secret_path_shape', 'vault_path')],
  ['an empty label', path('deployments/'), at('secret_path_shape', 'vault_path')],
  ['an empty segment between', path('deployments//db'), at('secret_path_shape', 'vault_path')],
  ['a slash at the end', path('deployments/db/'), at('secret_path_shape', 'vault_path')],
  ['a namespace that is ours', path('registries/db'), at('secret_path_namespace', 'vault_path')],
  ['a namespace in capitals', path('Deployments/db'), at('secret_path_namespace', 'vault_path')],
  ['an unknown namespace before a bad label', path('x/Y'), at('secret_path_namespace', 'vault_path')],
  ['a label in capitals', path('deployments/DB'), at('secret_path_name', 'vault_path')],
  ['a label with an underscore', path('resources/a_b'), at('secret_path_name', 'vault_path')],
  ['a label that ends in a hyphen', path('resources/a-'), at('secret_path_name', 'vault_path')],
  ['a label that begins with one', path('resources/-a'), at('secret_path_name', 'vault_path')],
  ['a dot', path('resources/.'), at('secret_path_name', 'vault_path')],
  ['encoded', path('resources/%2e%2e'), at('secret_path_name', 'vault_path')],
  ['a glob', path('resources/*'), at('secret_path_name', 'vault_path')],
  ['a NUL', path('resources/a\0'), at('secret_path_name', 'vault_path')],
  ['a label with a line end', path('resources/a\n'), at('secret_path_name', 'vault_path')],
  ['a label of 63', path(`resources/${'a'.repeat(63)}`)],
  ['a label of 64', path(`resources/${'a'.repeat(64)}`), at('secret_path_name', 'vault_path')],
  ['a label of one digit', path('resources/9')],
  ['the anchor external', entry({ anchor: 'external' })],
  ['an anchor in words', entry({ anchor: 'volume' }), at('secret_anchor_invalid', 'anchor')],
  ['an empty anchor', entry({ anchor: '' }), at('secret_anchor_invalid', 'anchor')],
  ['an anchor without its form', entry({ anchor: VOLUME }), at('secret_anchor_invalid', 'anchor')],
  ['an anchor without an id', entry({ anchor: 'volume(data)' }), at('secret_anchor_invalid', 'anchor')],
  ['a null anchor', entry({ anchor: null }), at('field_type_invalid', 'anchor')],
  [
    'an anchor to an undeclared volume',
    entry({ anchor: `volume(${VOLUME})` }),
    at('secret_anchor_volume_not_declared', 'anchor'),
  ],
  ['an anchor to a mounted volume', { ...entry({ anchor: `volume(${VOLUME})` }), volumes: [mount] }],
  [
    'an anchor to a bind',
    { ...entry({ anchor: `volume(${VOLUME})` }), volumes: [{ ...mount, type: 'bind' }] },
  ],
  [
    'an anchor to a tmpfs',
    { ...entry({ anchor: `volume(${VOLUME})` }), volumes: [{ ...mount, type: 'tmpfs' }] },
    at('secret_anchor_volume_ephemeral', 'anchor'),
  ],
  [
    'a volume that is mounted in both ways',
    {
      ...entry({ anchor: `volume(${VOLUME})` }),
      volumes: [
        { ...mount, type: 'tmpfs' },
        { ...mount, target: '/b' },
      ],
    },
  ],
  ['another rotation', entry({ rotation: 'reload' }), at('secret_rotation_unsupported', 'rotation')],
  ['an empty rotation', entry({ rotation: '' }), at('secret_rotation_unsupported', 'rotation')],
  ['a null rotation', entry({ rotation: null }), at('field_type_invalid', 'rotation')],
  ['a mount path', entry({ mount_path: '/run/db' }), at('secret_mount_path_unsupported', 'mount_path')],
  ['a null mount path', entry({ mount_path: null }), at('secret_mount_path_unsupported', 'mount_path')],
  ['a mount path of any type', entry({ mount_path: {} }), at('secret_mount_path_unsupported', 'mount_path')],
  ['an unknown field', entry({ path: 'x' }), at('field_unknown', 'path')],
  ['no object', { secrets: ['DB'] }, 'field_type_invalid secrets[0]'],
  ['no list', { secrets: {} }, 'field_type_invalid secrets'],
  [
    'one label in two namespaces',
    {
      secrets: [
        { name: 'A', vault_path: 'resources/db' },
        { name: 'B', vault_path: 'resources/x' },
        { name: 'C', vault_path: 'deployments/db' },
      ],
    },
    'secret_path_namespace_split secrets[2].vault_path',
  ],
  ['one path under two names', { secrets: ['A', 'B'].map((name) => ({ name, vault_path: 'resources/db' })) }],
]

test.each(ROWS)('rules of secrets: %s', (_about, parts, ...expected) => {
  const context = forCreate({ volumesEnabled: true })
  expect(summary(checkBody(aBody(parts), context))).toEqual(expected)
})

test.each([
  [32, []],
  [33, ['list_too_long secrets']],
])('%i entries', (count, expected) => {
  const secrets = Array.from({ length: count }, (_, n) => ({ name: `N${n}`, vault_path: `resources/n${n}` }))
  expect(summary(checkBody(aBody({ secrets }), forCreate()))).toEqual(expected)
})

test('the granted namespaces come from the configuration and are listed in the rejection', () => {
  const context = forCreate({ namespaces: ['team'] })
  expect(checkBody(aBody(path('team/db')), context)).toEqual([])
  const [rejection] = checkBody(aBody(path('resources/db')), context)
  expect(rejection).toMatchObject({ code: 'secret_path_namespace', received: 'resources/db' })
  expect(rejection?.expected).toContain('team')
})

test('the rejection of a namespace split names the bound namespace and label', () => {
  const secrets = ['resources/db', 'deployments/db'].map((vault_path, n) => ({ name: `N${n}`, vault_path }))
  const [rejection] = checkBody(aBody({ secrets }), forCreate())
  expect(rejection?.expected).toBe('resources/db')
})
