// Writes the bill of materials of one package as CycloneDX JSON. It has no random serial number, so that two builds of a
// commit are equal.

import { purlOf, type Shipped } from './shipped.ts'

export interface Described {
  readonly name: string
  readonly version: string
  readonly date: string
}

export function sbomOf({ name, version, date }: Described, shipped: readonly Shipped[]): string {
  const ref = `pkg:generic/${name}@${version}`
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: date,
      component: {
        type: 'application',
        'bom-ref': ref,
        name,
        version,
        purl: ref,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: shipped.map(componentOf),
    dependencies: [{ ref, dependsOn: shipped.map(purlOf) }],
  }
  return `${JSON.stringify(bom, null, 1)}\n`
}

function componentOf(each: Shipped): object {
  const { name, version, licence, integrity } = each
  const purl = purlOf(each)
  const properties = propertiesOf(each)
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(integrity === undefined ? {} : { hashes: [hashOf(integrity)] }),
    ...(licence === undefined ? {} : { licenses: [{ expression: licence }] }),
    ...(properties.length === 0 ? {} : { properties }),
  }
}

/** The hash of a Go module covers the list of its files, so it is no hash of one file and is a property. */
const propertiesOf = ({ h1, properties = {} }: Shipped): object[] =>
  Object.entries({ ...(h1 === undefined ? {} : { 'go:sum': h1 }), ...properties }).map(([name, value]) => ({
    name,
    value,
  }))

const ALGORITHMS: { readonly [prefix: string]: string } = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

/** `sha512-BASE64` of the lock file as an algorithm and hexadecimal digits. */
function hashOf(integrity: string): object {
  const [prefix = '', digest = ''] = integrity.split(/-(.*)/s)
  const alg = ALGORITHMS[prefix]
  if (alg === undefined) throw new Error(`unknown hash in the lock file: ${integrity}`)
  return { alg, content: Buffer.from(digest, 'base64').toString('hex') }
}
