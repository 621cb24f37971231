// Tests that no rejection, alteration or warning contains a secret value, whatever else is wrong with a body.

import { type Code, codesIn, type Json } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../limits.ts'
import { aBody, forCreate } from './admission.fixture.ts'
import { admitDeployment } from './admit-deployment.ts'
import { checkSecretWrite } from './check-secret-write.ts'
import { CROSS_RULES, FIELD_RULES } from './rule-list.ts'

/** A test secret without the form of a known credential, so that only its position marks it as a secret. */
const CANARY = 'quiet-otter-7'
const LONG = CANARY.repeat(6000)

/** Generates one of the choices, or an absent value. */
const any = (...choices: readonly unknown[]): fc.Arbitrary<unknown> => fc.constantFrom(undefined, ...choices)

const values = any(
  ...[{}, { a: CANARY }, { 'a-b': CANARY }, { a: '', b: CANARY }, { a: LONG }, { a: `${CANARY}\0` }],
  ...[{ a: [CANARY] }, { a: { b: CANARY } }, CANARY, [CANARY], { a: CANARY, c: CANARY }, { X_Y: CANARY }],
  Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, CANARY.repeat(5000)])),
)
const generate = any(
  ...[CANARY, [CANARY], { keys: ['b'], vaules: { b: CANARY } }],
  ...[{}, { keys: [] }, { keys: ['a'] }, { keys: ['b', 'b'] }, { keys: ['b-'] }, { keys: ['b'], bytes: 1 }],
  ...[
    { keys: ['b'], encoding: 'x' },
    { keys: ['b'], length: 0 },
    { keys: ['b'], length: 1, charset: 'ascii' },
  ],
  ...[
    { keys: ['b'], charset: 'x' },
    { keys: ['b'], bytes: 16, length: 40 },
    { keys: ['b'], charset: 'ascii' },
  ],
)
const entry = fc.record({
  name: any('DB', 'DB', 'DB_X', 'D-B'),
  vault_path: any(
    ...['resources/db', 'resources/db', 'deployments/db', '/db', 'db', 'x/db', 'resources/DB', ''],
  ),
  anchor: any('process', 'soon', 'volume(vol_01JCPZ0000000000000000000A)'),
  rotation: any('restart', 'never'),
  mount_path: fc.option(fc.constant('/x'), { freq: 8, nil: undefined }),
  values,
  generate,
  vaules: fc.option(fc.constant({ a: CANARY }), { freq: 8, nil: undefined }),
})
const template = fc.constantFrom(
  ...['', CANARY, `${CANARY}{{`, `${CANARY}{{secret.db.a}}`, `${CANARY}{{secret.other.a}}`, `${CANARY}\0`],
)
const bodies = fc.record({
  secrets: fc.oneof(
    fc.array(entry, { maxLength: 3 }),
    fc.constant(Array(33).fill({ values: { a: CANARY } })),
  ),
  composedEnvironment: fc.dictionary(fc.constantFrom('A', 'B-', 'DB_a', 'DB_a_NEXT'), template),
  environment: any({ DB_a: CANARY, DB_X_NEXT: CANARY, DB_b_NEXT: CANARY }, { A: CANARY.repeat(25_000) }),
  volumes: any([{ volume: 'vol_01JCPZ0000000000000000000A', target: '/a', type: 'tmpfs' }]),
})

const SECRET_CODES: ReadonlySet<Code> = new Set(codesIn('secretSources', 'secretEntries'))
/** Error codes about secrets that the rules on a request body can cause, without facts from the store. */
const WANTED = new Set(
  [...FIELD_RULES, ...CROSS_RULES].map(({ code }) => code).filter((code) => SECRET_CODES.has(code)),
)

test('no rejection of a deployment quotes a secret value, whatever its code', { timeout: 120_000 }, () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(bodies, fc.boolean(), (parts, materialForbidden) => {
      const verdict = admitDeployment(aBody(parts), forCreate({ materialForbidden, volumesEnabled: true }))
      const { alterations, warnings, spec, rejections } = { ...empty, ...verdict }
      expect(JSON.stringify([alterations, warnings, rejections, spec.secrets])).not.toContain(CANARY)
      for (const { code } of [...rejections, ...warnings]) seen.add(code)
    }),
    { numRuns: 4000 },
  )
  expect([...WANTED].filter((code) => !seen.has(code))).toEqual([])
  expect(WANTED.size).toBeGreaterThan(26)
})

const empty = { alterations: [], warnings: [], spec: { secrets: [] }, rejections: [] }

test('no rejection of a secret write quotes a secret value', () => {
  fc.assert(
    fc.property(fc.record({ values, generate, vaules: any({ a: CANARY }) }), (body) => {
      const sent: Json = JSON.parse(JSON.stringify(body))
      const verdict = checkSecretWrite(sent, { limits: DEFAULT_LIMITS })
      if (!verdict.accepted) expect(JSON.stringify(verdict.rejections)).not.toContain(CANARY)
    }),
    { numRuns: 1000 },
  )
})
