// Lets parts of the agent use the session although they are created first, because the session depends on these parts.

import type { Session } from '../ports/session.ts'

export interface ServerLink extends Omit<Session, 'close'> {
  /** Connects the link to the session. Call this before any of the other functions. */
  attach(session: Session): void
}

export function createServerLink(): ServerLink {
  let attached: Session | undefined
  const session = (): Session => {
    if (attached === undefined) throw new Error('the session is used before it is attached')
    return attached
  }
  return {
    attach(given) {
      attached = given
    },
    report: (observations) => session().report(observations),
    reportOrphans: (names) => session().reportOrphans(names),
    reportCopies: (copies) => session().reportCopies(copies),
    reportPool: (pool) => session().reportPool(pool),
    reportNetworks: (networks) => session().reportNetworks(networks),
    reportDisks: (disks) => session().reportDisks(disks),
    reportAuthorities: (pins) => session().reportAuthorities(pins),
    registryCredential: (host) => session().registryCredential(host),
    containerEnvironment: (id) => session().containerEnvironment(id),
    configure: (requests) => session().configure(requests),
  }
}
