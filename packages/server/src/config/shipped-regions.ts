// The regions that exist without any configuration, DECISIONS 7. A region is a list of ISO 3166-1 alpha-2 countries;
// configuration may replace each list and add regions, and `GET /scheduler/regions` shows what is in force.

const EU = [
  ...['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU'],
  ...['IE', 'IT', 'LT', 'LU', 'LV', 'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK'],
]

export const SHIPPED_REGIONS: { [region: string]: string[] } = {
  eu: EU,
  eea: [...EU, 'IS', 'LI', 'NO'].sort(),
  dach: ['AT', 'CH', 'DE'],
  nordics: ['DK', 'FI', 'IS', 'NO', 'SE'],
  na: ['CA', 'MX', 'US'],
  apac: [
    ...['AU', 'BD', 'BN', 'BT', 'CN', 'FJ', 'HK', 'ID', 'IN', 'JP', 'KH', 'KR', 'LA', 'LK', 'MM'],
    ...['MN', 'MO', 'MV', 'MY', 'NP', 'NZ', 'PG', 'PH', 'PK', 'SG', 'TH', 'TL', 'TW', 'VN'],
  ],
}
