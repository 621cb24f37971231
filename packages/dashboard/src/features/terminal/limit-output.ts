// Bounds the output that waits to be drawn. A browser cannot slow a socket down, so what a program prints faster than the
// page draws is skipped, and the page says how much.

export interface OutputDeps {
  /** Draws bytes and calls back when they are drawn. */
  draw(bytes: Uint8Array, drawn: () => void): void
  /** Reports bytes that were skipped, once there is room again. */
  onSkipped(bytes: number): void
}

export function limitOutput(limit: number, { draw, onSkipped }: OutputDeps): (bytes: Uint8Array) => void {
  let [waiting, skipped] = [0, 0]
  return (bytes) => {
    if (waiting + bytes.length > limit) {
      skipped += bytes.length
      return
    }
    if (skipped > 0) {
      onSkipped(skipped)
      skipped = 0
    }
    waiting += bytes.length
    draw(bytes, () => {
      waiting -= bytes.length
    })
  }
}
