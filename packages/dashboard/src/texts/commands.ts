// The command and the API call that do the same as a page. A test checks that the CLI knows every command.

export interface Equivalent {
  readonly command: string
  readonly call: string
}

export const API = '/api/v1'

const one = (name: string): string => `${API}/deployments/${encodeURIComponent(name)}`

/** Names of the platform contain no character that a shell would interpret; other texts are quoted. */
export const word = (text: string): string =>
  /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

const queryOf = (query: { readonly [name: string]: string | undefined }): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return given.length === 0 ? '' : `?${given.join('&')}`
}

export const equivalents = {
  overview: (): Equivalent => ({ command: 'holdfast status', call: `GET ${API}/overview` }),
  deployments: (filter: {
    readonly q?: string | undefined
    readonly phase?: string | undefined
  }): Equivalent => ({
    command: 'holdfast get deployments',
    call: `GET ${API}/deployments${queryOf({ view: 'summary', q: filter.q, phase: filter.phase })}`,
  }),
  why: (name: string, at?: string): Equivalent => ({
    command: `holdfast why ${word(name)}${at === undefined ? '' : ` --at ${word(at)}`}`,
    call: `GET ${API}/deployments/${encodeURIComponent(name)}/why${queryOf({ at })}`,
  }),
  replicas: (name: string): Equivalent => ({
    command: `holdfast ps ${word(name)}`,
    call: `GET ${API}/deployments/${encodeURIComponent(name)}/placements`,
  }),
  logs: (
    name: string,
    { replica, previous }: { readonly replica?: number | undefined; readonly previous?: boolean | undefined },
  ): Equivalent => {
    const one = replica === undefined ? '' : ` --replica ${replica}`
    return {
      command: `holdfast logs ${word(name)}${previous === true ? ' --previous' : ' --follow'}${one}`,
      call: `GET ${API}/deployments/${encodeURIComponent(name)}/logs${queryOf({
        ...(previous === true ? { previous: 'true' } : { follow: 'true' }),
        replica: replica?.toString(),
      })}`,
    }
  },
  terminal: (name: string, replica?: number): Equivalent => ({
    command: `holdfast exec -it${replica === undefined ? '' : ` --replica ${replica}`} ${word(name)} sh`,
    call: `POST ${API}/deployments/${encodeURIComponent(name)}/exec`,
  }),
  history: (name: string): Equivalent => ({
    command: `holdfast rollout history ${word(name)}`,
    call: `GET ${API}/archives/deployments/${encodeURIComponent(name)}`,
  }),
  rollBack: (name: string, revision: number): Equivalent => ({
    command: `holdfast rollout undo ${word(name)} --to-revision ${revision} --dry-run`,
    call: `POST ${API}/deployments/${encodeURIComponent(name)}/rollback?dryRun=true`,
  }),
  events: (name?: string): Equivalent => ({
    command: `holdfast events${name === undefined ? '' : ` --subject ${word(name)}`}`,
    call: `GET ${API}/events${queryOf({ subject: name })}`,
  }),
  nodes: (): Equivalent => ({
    command: 'holdfast get nodes',
    call: `GET ${API}/nodes?view=summary&sort=worst`,
  }),
  node: (name: string, id: string): Equivalent => ({
    command: `holdfast describe node ${word(name)}`,
    call: `GET ${API}/nodes/${encodeURIComponent(id)}`,
  }),
  drain: (name: string, id: string): Equivalent => ({
    command: `holdfast node drain ${word(name)}`,
    call: `POST ${API}/nodes/${encodeURIComponent(id)}/drain`,
  }),
  restart: (name: string): Equivalent => ({
    command: `holdfast rollout restart ${word(name)}`,
    call: `POST ${one(name)}/restart`,
  }),
  scale: (name: string, replicas: number): Equivalent => ({
    command: `holdfast scale ${word(name)} ${replicas}`,
    call: `PUT ${one(name)}`,
  }),
  remove: (name: string): Equivalent => ({
    command: `holdfast delete ${word(name)}`,
    call: `DELETE ${one(name)}`,
  }),
  promote: (name: string, force: boolean): Equivalent => ({
    command: `holdfast rollout canary promote ${word(name)}${force ? ' --force' : ''}`,
    call: `POST ${one(name)}/canary/promote`,
  }),
  abort: (name: string): Equivalent => ({
    command: `holdfast rollout canary abort ${word(name)}`,
    call: `POST ${one(name)}/canary/abort`,
  }),
  apply: (name?: string): Equivalent => ({
    command: `holdfast apply -f ${word(name === undefined ? 'FILE' : `${name}.yaml`)}`,
    call: name === undefined ? `POST ${API}/deployments` : `PUT ${one(name)}`,
  }),
  scaling: (name: string): Equivalent => ({
    command: `holdfast scaling show ${word(name)}`,
    call: `GET ${one(name)}/scaling`,
  }),
}
