// An error of the connection to another node. `refused_address`, `wrong_key`: nothing was sent. `cut`: the connection ended
// early, so the outcome of a request is unknown. `malformed`: the other node broke the protocol.

export type PeerFault = 'refused_address' | 'unreachable' | 'wrong_key' | 'cut' | 'malformed' | 'timeout'

export class PeerError extends Error {
  readonly fault: PeerFault

  constructor(fault: PeerFault, message: string) {
    super(message)
    this.name = 'PeerError'
    this.fault = fault
  }
}
