// A component that ships inside a package: where it comes from, its hash and its licence.

export interface LicenceText {
  /** File name in the component, such as LICENSE. */
  readonly file: string
  readonly text: string
}

export interface Shipped {
  readonly ecosystem: 'npm' | 'golang' | 'deb'
  readonly name: string
  readonly version: string
  /** SPDX expression; undefined if neither the component's description nor its texts state one. */
  readonly licence: string | undefined
  readonly texts: readonly LicenceText[]
  /** The hash of the package in its lock file, as sha512-BASE64; of a Debian package as sha256-BASE64. */
  readonly integrity?: string
  /** The hash of the module in go.sum, as h1:BASE64. */
  readonly h1?: string
  /** More facts for readers of the SBOM, such as the versions of libraries inside Node. */
  readonly properties?: { readonly [name: string]: string }
}

export const purlOf = ({ ecosystem, name, version }: Shipped): string =>
  ecosystem === 'deb'
    ? `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?distro=bookworm`
    : `pkg:${ecosystem}/${name.replace('@', '%40')}@${version}`

/** Each component once, sorted by its identifier. */
export function uniqueShipped(all: readonly Shipped[]): Shipped[] {
  const byPurl = new Map(all.map((each) => [purlOf(each), each]))
  return [...byPurl].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}
