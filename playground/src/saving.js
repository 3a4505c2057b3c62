// Files for the user: texts, tables, a picture.

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Creates a PNG with the drawing and, below it, the charts.
export async function picture(scene, charts, style) {
  const scale = 2, gap = 24, width = 1200;
  const parts = [{ title: "", canvas: scene }, ...charts].map(({ title, canvas }) => ({ title, canvas, height: (canvas.height / canvas.width) * (width - 2 * gap) }));
  const canvas = document.createElement("canvas");
  canvas.width = width * scale;
  canvas.height = (gap + parts.reduce((sum, { height, title }) => sum + height + gap + (title ? 22 : 0), 0)) * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = style.paper;
  context.fillRect(0, 0, width, canvas.height);
  context.fillStyle = style.ink;
  context.font = "600 15px Arial, sans-serif";
  let y = gap;
  for (const { title, canvas: part, height } of parts) {
    if (title) context.fillText(title, gap, (y += 22) - 6);
    context.drawImage(part, gap, y, width - 2 * gap, height);
    y += height + gap;
  }
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}
