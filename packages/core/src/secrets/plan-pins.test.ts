import { describe, expect, test } from 'vitest'
import { type CredentialFact, type PinQuestion, planPins } from './plan-pins.ts'

const VOLUME = 'volume(vol_01JCPZ0000000000000000000A)'
const entry = (label: string, anchor = 'external', name = label.toUpperCase()) => ({
  name,
  vault_path: `resources/${label}`,
  anchor,
  rotation: 'restart',
})
const fact = (newest: number | null, initial: number | null): CredentialFact => ({
  namespace: 'resources',
  newest,
  initial,
})

interface Row {
  readonly about: string
  readonly anchor?: string
  /** Whether the current record already refers to the label. */
  readonly before?: boolean
  readonly pin?: number
  readonly credential?: CredentialFact
  readonly staged?: number
  readonly expected: number | undefined
  readonly announced?: [number | null, number]
}

const ROWS: readonly Row[] = [
  { about: 'no credential at all', expected: undefined },
  { about: 'no version yet', credential: fact(null, null), expected: undefined },
  { about: 'the first version needs no pin', credential: fact(1, 1), expected: undefined },
  {
    about: 'the first version still needs none later',
    before: true,
    credential: fact(1, 1),
    expected: undefined,
  },
  { about: 'a new reference takes the newest', credential: fact(3, 1), expected: 3, announced: [null, 3] },
  {
    about: 'an update takes the newest',
    before: true,
    credential: fact(3, 1),
    expected: 3,
    announced: [1, 3],
  },
  {
    about: 'a pin moves to the newest',
    before: true,
    pin: 2,
    credential: fact(3, 1),
    expected: 3,
    announced: [2, 3],
  },
  { about: 'a pin that is the newest stays', before: true, pin: 3, credential: fact(3, 1), expected: 3 },
  {
    about: 'a pin that is the first stays written',
    before: true,
    pin: 1,
    credential: fact(1, 1),
    expected: 1,
  },
  { about: 'a pin that a cutover has set stays', before: true, pin: 5, credential: fact(3, 1), expected: 5 },
  { about: 'a pin stays while nothing is known', before: true, pin: 2, expected: 2 },
  {
    about: 'what this write brings',
    credential: fact(null, null),
    staged: 1,
    expected: 1,
    announced: [null, 1],
  },
  {
    about: 'what this write brings, over the newest',
    before: true,
    pin: 2,
    credential: fact(3, 1),
    staged: 4,
    expected: 4,
    announced: [2, 4],
  },
  {
    about: 'a pin of a label that was let go is no longer used',
    pin: 2,
    credential: fact(3, 1),
    expected: 3,
    announced: [null, 3],
  },
  {
    about: 'anchored: a new reference takes the newest',
    anchor: VOLUME,
    credential: fact(3, 1),
    expected: 3,
    announced: [null, 3],
  },
  {
    about: 'anchored: the first version needs no pin',
    anchor: VOLUME,
    credential: fact(1, 1),
    expected: undefined,
  },
  {
    about: 'anchored: a pin moves by cutover only',
    anchor: VOLUME,
    before: true,
    pin: 2,
    credential: fact(3, 1),
    expected: 2,
  },
  {
    about: 'anchored: the first version is a pin too',
    anchor: VOLUME,
    before: true,
    credential: fact(3, 1),
    expected: undefined,
  },
  {
    about: 'anchored: not by what this write brings',
    anchor: VOLUME,
    before: true,
    pin: 2,
    credential: fact(3, 1),
    staged: 4,
    expected: 2,
  },
  {
    about: 'anchored: what this write brings first',
    anchor: VOLUME,
    before: true,
    credential: fact(null, null),
    staged: 1,
    expected: 1,
    announced: [null, 1],
  },
]

test.each(ROWS)('$about', ({ anchor, before, pin, credential, staged, expected, announced }) => {
  const entries = [entry('other'), entry('db', anchor)]
  const plan = planPins({
    entries,
    before: before === true ? entries : [],
    pins: pin === undefined ? {} : { db: pin },
    credentials: new Map(credential === undefined ? [] : [['db', credential]]),
    staged: new Map(staged === undefined ? [] : [['db', staged]]),
  })
  expect(plan.pins).toEqual(expected === undefined ? {} : { db: expected })
  expect(plan.alterations.map(({ code, field, from, to }) => [code, field, from, to])).toEqual(
    announced === undefined ? [] : [['secret_version_pinned', 'secrets[1].vault_path', ...announced]],
  )
})

describe('planPins and labels', () => {
  const nothing: PinQuestion = {
    entries: [],
    before: [],
    pins: {},
    credentials: new Map(),
    staged: new Map(),
  }

  test('removes the pin of a label that is no longer referenced', () => {
    expect(planPins({ ...nothing, before: [entry('db')], pins: { db: 2 } }).pins).toEqual({})
  })

  test('pins a label of two entries once, by the stricter anchor', () => {
    const entries = [entry('db', 'process', 'A'), entry('db', VOLUME, 'B')]
    const question = { ...nothing, entries, pins: { db: 2 }, credentials: new Map([['db', fact(3, 1)]]) }
    expect(planPins({ ...question, before: entries })).toEqual({ pins: { db: 2 }, alterations: [] })
    expect(planPins({ ...question, pins: {} }).alterations).toHaveLength(1)
  })

  test('accepts labels named like object properties', () => {
    expect(
      planPins({ ...nothing, entries: [entry('constructor')], before: [entry('constructor')] }).pins,
    ).toEqual({})
  })

  const credential = { namespace: 'deployments', newest: 3, initial: 1 }
  test.each([
    ['its own version', { db: 2 }, { db: 2 }],
    ['the initial version, although it has a newer one', {}, {}],
    ['the initial version with a pin, if the canary had that pin', { db: 1 }, { db: 1 }],
  ])('promotes a canary with %s', (_about, tried, expected) => {
    const entries = [entry('db')]
    const credentials = new Map([['db', credential]])
    expect(planPins({ ...nothing, entries, before: entries, credentials, tried }).pins).toEqual(expected)
  })
})
