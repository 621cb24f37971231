// Pings a socket at an interval and terminates the socket if no pong arrived before the next ping.

import type { WebSocket } from 'ws'

export function keepAlive(socket: WebSocket, everyMs: number): void {
  let answered = true
  socket.on('pong', () => {
    answered = true
  })
  const timer = setInterval(() => {
    // A paused socket is not terminated, because it delivers no pongs while it is paused.
    if (!answered && !socket.isPaused) socket.terminate()
    answered = false
    if (socket.readyState === socket.OPEN) socket.ping()
  }, everyMs)
  socket.on('close', () => clearInterval(timer))
}
