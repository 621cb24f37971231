// An upgrade that is none of ours, or not now.

import type { Duplex } from 'node:stream'

export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy())
}
