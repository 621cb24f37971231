// Texts that an attacker may send as the path of a secret to reach another secret: dots and slashes, encoded once or
// twice or as wide characters, patterns of the store's policies, and paths that are almost valid.

const PIECES = [
  '..',
  '',
  '/',
  '//',
  './',
  '%2e%2e',
  '%2F',
  '%252e',
  '\\',
  '\0',
  '．．',
  '+',
  '*',
  '?version=1',
  '#',
  'web',
  'A',
  '-',
  '\u202e',
  '%00',
]
const NAMESPACES = [
  'deployments',
  'resources',
  'registries',
  'sys',
  'deployments/..',
  '../kv-other/data/deployments',
  'Deployments',
  'deployments%2F..',
  '+',
  '*',
  '',
  'deplоyments',
  'deployments ',
]
const THIRDS = ['', 'x']

export interface HostilePath {
  readonly namespace: string
  readonly label: string
}

/** Generates more than ten thousand hostile paths; a few of them are valid. */
export const hostilePaths = (): HostilePath[] =>
  NAMESPACES.flatMap((namespace) =>
    PIECES.flatMap((first) =>
      PIECES.flatMap((second) => THIRDS.map((third) => ({ namespace, label: `${first}${second}${third}` }))),
    ),
  )
