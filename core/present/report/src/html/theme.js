(function(){var r=document.documentElement,b=document.getElementById("theme"),q=matchMedia("(prefers-color-scheme: dark)");
function dark(){return r.dataset.theme?r.dataset.theme==="dark":q.matches}
function name(){b.textContent=dark()?"Light":"Dark"}
b.hidden=false;name();q.addEventListener("change",name);
b.addEventListener("click",function(){r.dataset.theme=dark()?"light":"dark";name()})})();
