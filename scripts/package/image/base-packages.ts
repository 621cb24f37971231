// The Debian packages below the server's image: their pinned list, and what of them ships.

/** A line of engines/base/packages.txt. */
export interface BasePackage {
  readonly name: string
  readonly version: string
  /** Of the .deb file, in hexadecimal digits. */
  readonly sha256: string
}

export const readBasePackages = (list: string): BasePackage[] =>
  list
    .trim()
    .split('\n')
    .map((line) => {
      const [name, version, sha256] = line.split(' ')
      if (name === undefined || version === undefined || sha256 === undefined)
        throw new Error(`engines/base/packages.txt: name, version and hash are expected, not: ${line}`)
      return { name, version, sha256 }
    })

/** Shared libraries, time zones, the name of the release and everything about licences; no program. */
const SHIPPED = [
  /^lib(?:64)?\/(?:x86_64-linux-gnu\/)?[^/]+\.so[.\d]*$/,
  /^usr\/lib\/x86_64-linux-gnu\/[^/]+\.so[.\d]*$/,
  /^(?:etc|usr\/lib)\/os-release$/,
  /^usr\/share\/zoneinfo\//,
  /^usr\/share\/common-licenses\//,
  // A folder of documents may be a link to that of another package.
  /^usr\/share\/doc\/[^/]+(?:\/copyright)?$/,
]

/** Whether a file or link of the packages is part of the image. Certificates are not: the image has all of them in one file. */
export const isShipped = (path: string): boolean => SHIPPED.some((pattern) => pattern.test(path))

export const isCertificate = (path: string): boolean =>
  /^usr\/share\/ca-certificates\/mozilla\/.*\.crt$/.test(path)

/** Names of the licences in /usr/share/common-licenses that a copyright file refers to. */
export const commonLicenceNames = (copyright: string): string[] =>
  [
    ...new Set(
      [...copyright.matchAll(/\/usr\/share\/common-licenses\/([\w-]+(?:\.\d+)?)/g)].map(
        ([, name = '']) => name,
      ),
    ),
  ].toSorted()
