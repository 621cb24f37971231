// Reads a tenant's contents of the secrets store with the store's root token, and not with the product's client, which is
// under test.

export interface StoreEye {
  /** The secret values of one version of `<namespace>/<label>`; throws if the version has no values. */
  read(path: string, version: number): Promise<{ [key: string]: string }>
  /** Every version number that was ever used at the path. */
  numbersOf(path: string): Promise<number[]>
  /** Versions at the path that still have values. */
  liveVersions(path: string): Promise<number[]>
  /** All versions of all paths of the tenant, including the paths that the platform itself uses. */
  everything(): Promise<StoredVersions>
  /** The status of the store's response to a read of the path with another token. */
  statusAs(token: string, path: string): Promise<number>
}

/** Version numbers by path; the number of a destroyed version is negative. */
export type StoredVersions = { [path: string]: number[] }

const NAMESPACES = ['deployments', 'resources', 'registries']

interface Place {
  readonly address: string
  readonly rootToken: string
  readonly tenant: string
}

interface Metadata {
  readonly data: { readonly versions: { readonly [number: string]: { readonly destroyed: boolean } } }
}

export function createStoreEye({ address, rootToken, tenant }: Place): StoreEye {
  const ask = (token: string, path: string) =>
    fetch(`${address}/v1/kv-${tenant}/${path}`, { headers: { 'x-vault-token': token } })
  const versionsOf = async (path: string) => {
    const answer = await ask(rootToken, `metadata/${path}`)
    if (answer.status === 404) return []
    if (!answer.ok) throw new Error(`the store answered ${answer.status}`)
    const { data } = (await answer.json()) as Metadata
    const listed = Object.entries(data.versions).map(([number, about]) => ({
      ...about,
      number: Number(number),
    }))
    return listed.sort((left, right) => left.number - right.number)
  }
  const namesIn = async (namespace: string): Promise<string[]> => {
    const answer = await ask(rootToken, `metadata/${namespace}?list=true`)
    if (answer.status === 404) return []
    if (!answer.ok) throw new Error(`the store answered ${answer.status}`)
    const { data } = (await answer.json()) as { data: { keys: string[] } }
    return data.keys
  }
  return {
    async read(path, version) {
      const answer = await ask(rootToken, `data/${path}?version=${version}`)
      if (!answer.ok) throw new Error(`version ${version} of ${path}: the store answered ${answer.status}`)
      const { data } = (await answer.json()) as { data: { data: { [key: string]: string } } }
      return data.data
    },
    numbersOf: async (path) => (await versionsOf(path)).map(({ number }) => number),
    liveVersions: async (path) =>
      (await versionsOf(path)).filter(({ destroyed }) => !destroyed).map(({ number }) => number),
    async everything() {
      const found: StoredVersions = {}
      for (const namespace of NAMESPACES)
        for (const name of await namesIn(namespace)) {
          const versions = await versionsOf(`${namespace}/${name}`)
          found[`${namespace}/${name}`] = versions.map(({ number, destroyed }) =>
            destroyed ? -number : number,
          )
        }
      return found
    },
    async statusAs(token, path) {
      const answer = await ask(token, path)
      await answer.arrayBuffer()
      return answer.status
    },
  }
}

/** Versions that exist and can be read, by path. */
export function liveVersions(found: StoredVersions): StoredVersions {
  const live = Object.entries(found).map(
    ([path, versions]) => [path, versions.filter((one) => one > 0)] as const,
  )
  return Object.fromEntries(live.filter(([, versions]) => versions.length > 0))
}
