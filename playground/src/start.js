// Unpacks the script of the page and runs it.
import { unpacked } from "./unpacked.js";

unpacked(document.getElementById("script").textContent).then((bytes) => {
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(bytes);
  document.body.append(script);
}).catch((error) => {
  document.getElementById("status").textContent = `The page cannot start: ${error.message}`;
});
