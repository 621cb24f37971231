import { describe, expect, test } from 'vitest'
import { aBody, aRecord, forCreate, forUpdate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const COUNTRY = 'holdfast.io/data-residency-country'
const REGION = 'holdfast.io/data-residency-region'
const BLOCKED = 'holdfast.io/blocked-countries'
const at = (label: string) => `labels["${label}"]`
const demand = (residency: unknown, more: object = {}) => ({ placement: { residency }, ...more })
const codesOfTwoLetters = Array.from({ length: 676 }, (_, n) =>
  String.fromCharCode(65 + Math.floor(n / 26), 65 + (n % 26)),
)

const ROWS: Row[] = [
  ['all of it', demand({ country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] })],
  ['nothing', demand({})],
  ['nothing blocked', demand({ blockedCountries: [] })],
  ['null', demand(null), 'field_type_invalid placement.residency'],
  ['a list', demand([]), 'field_type_invalid placement.residency'],
  ['null inside', demand({ country: null }), 'field_type_invalid placement.residency.country'],
  ['an unknown field', demand({ city: 'Bonn' }), 'field_unknown placement.residency.city'],
  ['a country in words', demand({ country: 'Germany' }), 'placement_invalid placement.residency.country'],
  ['a country in small letters', demand({ country: 'de' }), 'placement_invalid placement.residency.country'],
  ['three letters', demand({ country: 'DEU' }), 'placement_invalid placement.residency.country'],
  ['no letters', demand({ country: '' }), 'placement_invalid placement.residency.country'],
  ['a line after the letters', demand({ country: 'DE\n' }), 'placement_invalid placement.residency.country'],
  [
    'blocked countries of another form',
    demand({ blockedCountries: ['US', 'cn', 1] }),
    'placement_invalid placement.residency.blockedCountries[1]',
    'field_type_invalid placement.residency.blockedCountries[2]',
  ],
  [
    'a text of blocked countries',
    demand({ blockedCountries: 'US,CN' }),
    'field_type_invalid placement.residency.blockedCountries',
  ],
  ['249 countries', demand({ blockedCountries: codesOfTwoLetters.slice(0, 249) })],
  [
    '250 countries, whatever they are',
    demand({ blockedCountries: [...Array(249).fill('US'), 'x'] }),
    'list_too_long placement.residency.blockedCountries',
  ],
  [
    'a country blocked twice',
    demand({ blockedCountries: ['US', 'CN', 'US'] }),
    'placement_invalid placement.residency.blockedCountries[2]',
  ],
  [
    'a country demanded and blocked',
    demand({ country: 'DE', blockedCountries: ['US', 'DE'] }),
    'placement_invalid placement.residency.blockedCountries[1]',
  ],
  ['an empty region', demand({ region: '' }), 'placement_invalid placement.residency.region'],
  ['a region of two lines', demand({ region: 'e\nu' }), 'placement_invalid placement.residency.region'],
  ['a long region', demand({ region: 'e'.repeat(254) }), 'placement_invalid placement.residency.region'],
  [
    'a region in capital letters',
    demand({ region: 'EU' }),
    'residency_region_undeclared placement.residency.region',
  ],
  [
    'a region of no platform',
    demand({ region: 'constructor', country: 'de' }),
    'placement_invalid placement.residency.country',
    'residency_region_undeclared placement.residency.region',
  ],
  [
    'the labels by hand',
    { labels: { [COUNTRY]: 'DE', [REGION]: 'eu', [BLOCKED]: 'US' } },
    `residency_label_handwritten ${at(COUNTRY)}`,
    `residency_label_handwritten ${at(REGION)}`,
    `residency_label_handwritten ${at(BLOCKED)}`,
  ],
  [
    'the label beside its own part of the block, with an equal value',
    demand({ country: 'DE' }, { labels: { [COUNTRY]: 'DE' } }),
    `residency_declared_twice ${at(COUNTRY)}`,
  ],
  [
    'the label beside its own part, with a value that no label may have',
    demand({ country: 'DE' }, { labels: { [COUNTRY]: '\u001b' } }),
    `residency_declared_twice ${at(COUNTRY)}`,
  ],
  [
    'the label beside another part',
    demand({ region: 'eu' }, { labels: { [COUNTRY]: 'DE' } }),
    `residency_label_handwritten ${at(COUNTRY)}`,
  ],
  [
    'a label beside a list that blocks nothing',
    demand({ blockedCountries: [] }, { labels: { [BLOCKED]: 'US' } }),
    `residency_label_handwritten ${at(BLOCKED)}`,
  ],
  [
    'a label that is no text',
    demand({ country: 'DE' }, { labels: { [COUNTRY]: 1 } }),
    `field_type_invalid ${at(COUNTRY)}`,
  ],
  [
    'another label of the platform beside the block',
    demand({ country: 'DE' }, { labels: { 'holdfast.io/country': 'DE' } }),
    'label_reserved labels["holdfast.io/country"]',
  ],
]

test.each(ROWS)('rules of residency: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

test('the rejection of an undeclared region lists the declared ones', () => {
  const [first] = checkBody(
    aBody(demand({ region: 'moon' })),
    forCreate({ regions: new Set(['eu', 'dach']) }),
  )
  expect(first).toMatchObject({ received: 'moon', expected: 'one of dach, eu' })
})

describe('residency rules of an update', () => {
  const resident = aRecord(aBody(demand({ country: 'DE', region: 'eu' })))
  const judge = (sent: object, regions = ['eu']) =>
    summary(checkBody(JSON.parse(JSON.stringify(sent)), forUpdate(resident, { regions: new Set(regions) })))

  test.each<[string, object, string[]]>([
    [
      'a label beside the block that is kept',
      { labels: { [COUNTRY]: 'DE' } },
      [`residency_declared_twice ${at(COUNTRY)}`],
    ],
    [
      'a label beside a block that this write clears',
      { labels: { [COUNTRY]: 'DE' }, placement: null },
      [`residency_label_handwritten ${at(COUNTRY)}`],
    ],
    [
      'a label beside a block that this write replaces',
      { labels: { [COUNTRY]: 'DE' }, placement: { residency: { region: 'eu' } } },
      [`residency_label_handwritten ${at(COUNTRY)}`],
    ],
    [
      'a blocked country without the one that is stored: placement is replaced as a whole',
      { placement: { residency: { blockedCountries: ['DE'] } } },
      [],
    ],
    ['something else', { replicas: 2 }, []],
  ])('%s', (_about, sent, expected) => {
    expect(judge(sent)).toEqual(expected)
  })

  test('checks the region only if it is sent', () => {
    expect(judge({ replicas: 2 }, ['na'])).toEqual([])
    expect(judge({ placement: resident.placement }, ['na'])).toEqual([
      'residency_region_undeclared placement.residency.region',
    ])
  })
})

describe('the block that replaces a residency label', () => {
  const printed = (body: object) =>
    checkBody(aBody({ ...body }), forCreate())
      .filter(({ code }) => code === 'residency_label_handwritten')
      .map(({ expected }) => JSON.parse(expected).placement.residency)

  test('holds the values of all labels in every rejection', () => {
    const filled = { country: 'DE', blockedCountries: ['US', 'CN'] }
    expect(printed({ labels: { [COUNTRY]: 'DE', [BLOCKED]: 'US, CN' } })).toEqual([filled, filled])
  })

  test('keeps what the block already declares', () => {
    const kept = { region: 'eu', blockedCountries: ['US'] }
    expect(printed(demand(kept, { labels: { [COUNTRY]: 'DE' } }))).toEqual([{ country: 'DE', ...kept }])
  })

  test('omits a list that is too long to be valid', () => {
    const body = demand({ blockedCountries: Array(50_000).fill('US') }, { labels: { [COUNTRY]: 'DE' } })
    expect(printed(body)).toEqual([{ country: 'DE' }])
  })

  test('quotes no credential and no invalid part of the block', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const body = demand({ region: token, blockedCountries: [token] }, { labels: { [COUNTRY]: token } })
    const texts = JSON.stringify(printed(body))
    expect(texts).toContain('redacted')
    expect(texts).not.toContain(token)
    expect(texts).not.toContain('blockedCountries')
  })
})
