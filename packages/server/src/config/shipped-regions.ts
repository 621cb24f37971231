// The regions that exist without any configuration, as lists of ISO 3166-1 alpha-2 country codes. The configuration may
// replace each list and add regions; `GET /scheduler/regions` returns the lists in force.

const EU = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' ')
const APAC = 'AU BD BN BT CN FJ HK ID IN JP KH KR LA LK MM MN MO MV MY NP NZ PG PH PK SG TH TL TW VN'

export const SHIPPED_REGIONS: { [region: string]: string[] } = {
  eu: EU,
  eea: [...EU, 'IS', 'LI', 'NO'].sort(),
  dach: ['AT', 'CH', 'DE'],
  nordics: ['DK', 'FI', 'IS', 'NO', 'SE'],
  na: ['CA', 'MX', 'US'],
  apac: APAC.split(' '),
}
