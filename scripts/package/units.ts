// Reads from a systemd unit which things its package must create and delete: the user it runs as and the folders it keeps.

export interface Unit {
  /** File name, such as holdfast-agent.service. */
  readonly name: string
  /** Path of the source from the root of the repository. */
  readonly source: string
  readonly user: string | undefined
  /** Absolute paths of the data that outlives the service. */
  readonly state: readonly string[]
  /** Whether a person or a target enables the unit; the others are started by timers or by other units. */
  readonly installable: boolean
}

/** Reads a unit file. Only directives that decide what the package creates and deletes are read. */
export function readUnit(source: string, text: string): Unit {
  const values = (key: string): string[] =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value.trim())
  const user = values('User').at(-1)
  return {
    name: source.split('/').at(-1) ?? source,
    source,
    user: user === 'root' || user === '' ? undefined : user,
    state: values('StateDirectory')
      .flatMap((value) => value.split(/\s+/))
      .filter((path) => path !== '')
      .map((path) => `/var/lib/${path.split(':')[0]}`),
    installable: /^\[Install\]$/m.test(text),
  }
}
